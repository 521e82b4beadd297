/** Reads: one row, pages, nested pages, pages after a cursor, aggregates, filters by relations, row level security. */
import { scatter, type Variables, valuesOf, type Workload } from './workload.ts';

const point: Workload = {
  name: 'point',
  title: 'point lookup by primary key, 8 columns',
  role: 'anon',
  variables: (index) => ({ id: scatter(index, 1, 1, 10_000) }),
  rowgraph: 'query Point($id: Int!) { listenerByPk(id: $id) { id subject name email plan balance isActive createdAt } }',
  postgraphile: 'query Point($id: Int!) { listener(rowId: $id) { id: rowId subject name email plan balance isActive createdAt } }',
  statement: {
    text: `select '{"data":{"listenerByPk":{"id":' || id || ',"subject":"' || subject || '","name":' || to_json(name) || ',"email":' || to_json(email)
      || ',"plan":"' || plan || '","balance":"' || balance || '","isActive":' || is_active || ',"createdAt":' || to_json(created_at) || '}}}'
      from listener where id = $1::int`,
    values: valuesOf('id'),
  },
};

const page: Workload = {
  name: 'page',
  title: 'page of 20 rows, 6 columns',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 2, 1, 9_900) }),
  rowgraph: `query Page($from: Int!) {
    artistCollection(first: 20, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) {
      edges { node { id name country biography isActive createdAt } }
    }
  }`,
  postgraphile: `query Page($from: Int!) {
    artists(first: 20, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) {
      edges { node { id: rowId name country biography isActive createdAt } }
    }
  }`,
  statement: {
    text: `select '{"data":{"artistCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"name":' || to_json(name)
      || ',"country":' || to_json(country) || ',"biography":' || coalesce(to_json(biography)::text, 'null') || ',"isActive":' || is_active
      || ',"createdAt":' || to_json(created_at) || '}}', ',' order by id), '') || ']}}}'
      from (select * from artist where id > $1::int order by id limit 20) artist`,
    values: valuesOf('from'),
  },
};

const nested: Workload = {
  name: 'nested',
  title: 'three levels: 10 artists, their albums, 5 tracks of each',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 3, 1, 9_900) }),
  rowgraph: `query Nested($from: Int!) {
    artistCollection(first: 10, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) {
      edges { node { id name
        albumCollection(first: 10, orderBy: [{ id: AscNullsLast }]) {
          edges { node { id title
            trackCollection(first: 5, orderBy: [{ id: AscNullsLast }]) { edges { node { id title seconds } } }
          } }
        }
      } }
    }
  }`,
  postgraphile: `query Nested($from: Int!) {
    artists(first: 10, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) {
      edges { node { id: rowId name
        albums(first: 10, orderBy: [ROW_ID_ASC]) {
          edges { node { id: rowId title
            tracks(first: 5, orderBy: [ROW_ID_ASC]) { edges { node { id: rowId title seconds } } }
          } }
        }
      } }
    }
  }`,
  statement: {
    text: `select '{"data":{"artistCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || artist.id || ',"name":' || to_json(artist.name)
        || ',"albumCollection":{"edges":[' || albums.edges || ']}}}', ',' order by artist.id), '') || ']}}}'
      from (select id, name from artist where id > $1::int order by id limit 10) artist
      cross join lateral (
        select coalesce(string_agg('{"node":{"id":' || album.id || ',"title":' || to_json(album.title)
          || ',"trackCollection":{"edges":[' || tracks.edges || ']}}}', ',' order by album.id), '') as edges
        from (select id, title from album where artist_id = artist.id order by id limit 10) album
        cross join lateral (
          select coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title) || ',"seconds":' || seconds || '}}', ',' order by id), '') as edges
          from (select id, title, seconds from track where album_id = album.id order by id limit 5) track
        ) tracks
      ) albums`,
    values: valuesOf('from'),
  },
};

const manyToMany: Workload = {
  name: 'many-to-many',
  title: 'many-to-many through a join table: 10 playlists, 10 tracks of each with their album',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 8, 1, 9_900) }),
  rowgraph: `query ManyToMany($from: Int!) {
    playlistCollection(first: 10, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) {
      edges { node { id name
        playlistTrackCollection(first: 10, orderBy: [{ position: AscNullsLast }]) {
          edges { node { position track { id title album { id title } } } }
        }
      } }
    }
  }`,
  postgraphile: `query ManyToMany($from: Int!) {
    playlists(first: 10, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) {
      edges { node { id: rowId name
        playlistTracks(first: 10, orderBy: [POSITION_ASC]) {
          edges { node { position track { id: rowId title album { id: rowId title } } } }
        }
      } }
    }
  }`,
  statement: {
    text: `select '{"data":{"playlistCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || playlist.id || ',"name":' || to_json(playlist.name)
        || ',"playlistTrackCollection":{"edges":[' || tracks.edges || ']}}}', ',' order by playlist.id), '') || ']}}}'
      from (select id, name from playlist where id > $1::int order by id limit 10) playlist
      cross join lateral (
        select coalesce(string_agg('{"node":{"position":' || place.position || ',"track":{"id":' || track.id || ',"title":' || to_json(track.title)
          || ',"album":{"id":' || album.id || ',"title":' || to_json(album.title) || '}}}}', ',' order by place.position), '') as edges
        from (select position, track_id from playlist_track where playlist_id = playlist.id order by position limit 10) place
        join track on track.id = place.track_id
        join album on album.id = track.album_id
      ) tracks`,
    values: valuesOf('from'),
  },
};

const count: Workload = {
  name: 'count',
  title: 'totalCount, count, sum and avg over 200 rows',
  role: 'anon',
  variables: (index) => ({ low: scatter(index, 5, 1, 49_000), high: scatter(index, 5, 1, 49_000) + 40 }),
  rowgraph: `query Count($low: Int!, $high: Int!) {
    trackCollection(filter: { albumId: { gte: $low, lt: $high } }) { totalCount aggregate { count sum { plays } avg { loudness } } }
  }`,
  postgraphile: `query Count($low: Int!, $high: Int!) {
    tracks(filter: { albumId: { greaterThanOrEqualTo: $low, lessThan: $high } }) {
      totalCount
      aggregates { count: distinctCount { count: rowId } sum { plays } avg: average { loudness } }
    }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"totalCount":' || count(*) || ',"aggregate":{"count":' || count(*)
        || ',"sum":{"plays":"' || sum(plays) || '"},"avg":{"loudness":"' || avg(loudness) || '"}}}}}'
      from track where album_id >= $1::int and album_id < $2::int`,
    values: valuesOf('low', 'high'),
  },
};

/** The bare handler's cursor is the base64 of the order key and the id, like rowgraph's. */
function cursorValues({ cursor }: Variables): string[] {
  return (JSON.parse(Buffer.from(String(cursor), 'base64').toString()) as unknown[]).map(String);
}

const keyset: Workload = {
  name: 'keyset',
  title: 'keyset page of 20 under a filter, order by two columns',
  role: 'anon',
  variables: (index) => ({ plays: scatter(index, 4, 0, 99_000) }),
  position: {
    rowgraph: `query Position($plays: Int!) {
      albumCollection(first: 1, filter: { kind: { eq: studio }, plays: { gte: $plays } }, orderBy: [{ plays: AscNullsLast }, { id: AscNullsLast }]) {
        pageInfo { endCursor }
      }
    }`,
    postgraphile: `query Position($plays: Int!) {
      albums(first: 1, filter: { kind: { equalTo: studio }, plays: { greaterThanOrEqualTo: $plays } }, orderBy: [PLAYS_ASC, ROW_ID_ASC]) {
        pageInfo { endCursor }
      }
    }`,
    statement: {
      text: `select '{"data":{"endCursor":"' || encode(convert_to('[' || plays || ',' || id || ']', 'utf8'), 'base64') || '"}}'
        from album where kind = 'studio' and plays >= $1::int order by plays, id limit 1`,
      values: valuesOf('plays'),
    },
  },
  rowgraph: `query Keyset($cursor: Cursor!) {
    albumCollection(first: 20, after: $cursor, filter: { kind: { eq: studio } }, orderBy: [{ plays: AscNullsLast }, { id: AscNullsLast }]) {
      edges { node { id title plays releasedOn } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  postgraphile: `query Keyset($cursor: Cursor!) {
    albums(first: 20, after: $cursor, filter: { kind: { equalTo: studio } }, orderBy: [PLAYS_ASC, ROW_ID_ASC]) {
      edges { node { id: rowId title plays releasedOn } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  statement: {
    text: `select '{"data":{"albumCollection":{"edges":['
        || coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title) || ',"plays":' || plays
          || ',"releasedOn":' || coalesce('"' || released_on || '"', 'null') || '}}', ',' order by place) filter (where place <= 20), '')
        || '],"pageInfo":{"hasNextPage":' || (count(*) > 20) || ',"endCursor":"' || encode(convert_to(
          (array_agg('[' || plays || ',' || id || ']' order by place))[least(count(*), 20)], 'utf8'), 'base64') || '"}}}}'
      from (
        select id, title, plays, released_on, row_number() over (order by plays, id) as place
        from album where kind = 'studio' and (plays, id) > ($1::int, $2::int) order by plays, id limit 21
      ) album`,
    values: cursorValues,
  },
};

/** A range of `length` ids. */
function rangeOf(index: number, salt: number, last: number, length: number): Variables {
  const low = scatter(index, salt, 1, last - length);
  return { low, high: low + length };
}

const relatedFilter: Workload = {
  name: 'related-filter',
  title: 'page of 20 of 1,000 tracks by kind and rating of their album, and by some place in a playlist',
  role: 'anon',
  variables: (index) => ({ ...rangeOf(index, 40, 250_000, 1_000), rating: (scatter(index, 46, 50, 150) / 100).toFixed(2) }),
  rowgraph: `query RelatedFilter($low: Int!, $high: Int!, $rating: BigFloat!) {
    trackCollection(
      first: 20
      filter: {
        id: { gte: $low, lt: $high }
        album: { kind: { eq: studio }, rating: { gte: $rating } }
        playlistTrackCollection: { some: { position: { lte: 6 } } }
      }
      orderBy: [{ id: AscNullsLast }]
    ) { edges { node { id title seconds } } }
  }`,
  postgraphile: `query RelatedFilter($low: Int!, $high: Int!, $rating: BigFloat!) {
    tracks(
      first: 20
      filter: {
        rowId: { greaterThanOrEqualTo: $low, lessThan: $high }
        album: { kind: { equalTo: studio }, rating: { greaterThanOrEqualTo: $rating } }
        playlistTracks: { some: { position: { lessThanOrEqualTo: 6 } } }
      }
      orderBy: [ROW_ID_ASC]
    ) { edges { node { id: rowId title seconds } } }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title)
      || ',"seconds":' || seconds || '}}', ',' order by id), '') || ']}}}'
      from (
        select id, title, seconds from track where id >= $1::int and id < $2::int
          and exists (select from album where album.id = track.album_id and album.kind = 'studio' and album.rating >= $3::numeric)
          and exists (select from playlist_track where playlist_track.track_id = track.id and playlist_track.position <= 6)
        order by id limit 20
      ) track`,
    values: valuesOf('low', 'high', 'rating'),
  },
};

const ownRows: Workload = {
  name: 'own-rows',
  title: 'own rows under row level security, page of 20',
  role: 'authenticated',
  variables: () => ({}),
  rowgraph: `query OwnRows {
    diaryEntryCollection(first: 20, orderBy: [{ id: AscNullsLast }]) { edges { node { id title body isDone writtenAt } } }
  }`,
  postgraphile: `query OwnRows {
    diaryEntries(first: 20, orderBy: [ROW_ID_ASC]) { edges { node { id: rowId title body isDone writtenAt } } }
  }`,
  statement: {
    text: `select '{"data":{"diaryEntryCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":"' || id || '","title":' || to_json(title)
      || ',"body":' || to_json(body) || ',"isDone":' || is_done || ',"writtenAt":' || to_json(written_at) || '}}', ',' order by id), '') || ']}}}'
      from (select * from diary_entry order by id limit 20) diary_entry`,
    values: () => [],
  },
};

export const reads: readonly Workload[] = [point, page, nested, manyToMany, count, keyset, relatedFilter, ownRows];
