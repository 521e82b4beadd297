/** Rows filtered and ordered by their related rows, and a view whose key and relations are inferred. */
import { scatter, type Variables, valuesOf, type Workload } from './workload.ts';

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

const countFilter: Workload = {
  name: 'count-filter',
  title: 'page of 20 artists with at least 3 albums of many plays',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 41, 1, 9_000), plays: scatter(index, 42, 30_000, 50_000) }),
  rowgraph: `query CountFilter($from: Int!, $plays: Int!) {
    artistCollection(
      first: 20
      filter: { id: { gt: $from }, albumCollection: { count: { gte: 3 }, where: { plays: { gt: $plays } } } }
      orderBy: [{ id: AscNullsLast }]
    ) { edges { node { id name country } } }
  }`,
  postgraphile: `query CountFilter($from: Int!, $plays: Int!) {
    artists(
      first: 20
      filter: { rowId: { greaterThan: $from }, albums: { aggregates: {
        filter: { plays: { greaterThan: $plays } }, distinctCount: { rowId: { greaterThanOrEqualTo: "3" } }
      } } }
      orderBy: [ROW_ID_ASC]
    ) { edges { node { id: rowId name country } } }
  }`,
  statement: {
    text: `select '{"data":{"artistCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"name":' || to_json(name)
      || ',"country":' || to_json(country) || '}}', ',' order by id), '') || ']}}}'
      from (
        select id, name, country from artist where id > $1::int
          and (select count(*) from (select from album where artist_id = artist.id and plays > $2::int limit 3) few) >= 3
        order by id limit 20
      ) artist`,
    values: valuesOf('from', 'plays'),
  },
};

const relatedOrder: Workload = {
  name: 'related-order',
  title: 'page of 20 of 200 tracks, order by a column of their album',
  role: 'anon',
  variables: (index) => rangeOf(index, 43, 50_000, 40),
  rowgraph: `query RelatedOrder($low: Int!, $high: Int!) {
    trackCollection(
      first: 20
      filter: { albumId: { gte: $low, lt: $high } }
      orderBy: [{ album: { plays: DescNullsLast } }, { id: AscNullsLast }]
    ) { edges { node { id title seconds } } }
  }`,
  postgraphile: `query RelatedOrder($low: Int!, $high: Int!) {
    tracks(
      first: 20
      filter: { albumId: { greaterThanOrEqualTo: $low, lessThan: $high } }
      orderBy: [ALBUM_BY_ALBUM_ID__PLAYS_DESC, ROW_ID_ASC]
    ) { edges { node { id: rowId title seconds } } }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title)
      || ',"seconds":' || seconds || '}}', ',' order by plays desc, id), '') || ']}}}'
      from (
        select track.id, track.title, track.seconds, album.plays from track left join album on album.id = track.album_id
        where track.album_id >= $1::int and track.album_id < $2::int order by album.plays desc, track.id limit 20
      ) track`,
    values: valuesOf('low', 'high'),
  },
};

const countOrder: Workload = {
  name: 'count-order',
  title: 'page of 20 of 200 listeners, order by the number of their playlists',
  role: 'anon',
  variables: (index) => rangeOf(index, 44, 10_000, 200),
  rowgraph: `query CountOrder($low: Int!, $high: Int!) {
    listenerCollection(
      first: 20
      filter: { id: { gte: $low, lt: $high } }
      orderBy: [{ playlistCollection: { count: DescNullsLast } }, { id: AscNullsLast }]
    ) { edges { node { id name plan } } }
  }`,
  postgraphile: `query CountOrder($low: Int!, $high: Int!) {
    listeners(first: 20, filter: { rowId: { greaterThanOrEqualTo: $low, lessThan: $high } }, orderBy: [PLAYLISTS_COUNT_DESC, ROW_ID_ASC]) {
      edges { node { id: rowId name plan } }
    }
  }`,
  statement: {
    text: `select '{"data":{"listenerCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"name":' || to_json(name)
      || ',"plan":"' || plan || '"}}', ',' order by playlists desc, id), '') || ']}}}'
      from (
        select id, name, plan, (select count(*) from playlist where listener_id = listener.id) as playlists
        from listener where id >= $1::int and id < $2::int order by playlists desc, id limit 20
      ) listener`,
    values: valuesOf('low', 'high'),
  },
};

const plainView: Workload = {
  name: 'plain-view',
  title: 'page of 10 rows of a view without comments, with its to-one and to-many relations',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 45, 1, 49_000) }),
  rowgraph: `query PlainView($from: Int!) {
    studioAlbumCollection(first: 10, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) {
      edges { node { id title artistName
        artist { id country }
        trackCollection(first: 5, orderBy: [{ id: AscNullsLast }]) { edges { node { id title } } }
      } }
    }
  }`,
  postgraphile: `query PlainView($from: Int!) {
    studioAlbums(first: 10, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) {
      edges { node { id: rowId title artistName
        artist { id: rowId country }
        tracks: tracksByAlbumId(first: 5, orderBy: [ROW_ID_ASC]) { edges { node { id: rowId title } } }
      } }
    }
  }`,
  statement: {
    text: `select '{"data":{"studioAlbumCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || album.id || ',"title":' || to_json(album.title)
        || ',"artistName":' || to_json(album.artist_name) || ',"artist":' || coalesce(artist.object, 'null')
        || ',"trackCollection":{"edges":[' || tracks.edges || ']}}}', ',' order by album.id), '') || ']}}}'
      from (select * from studio_album where id > $1::int order by id limit 10) album
      left join lateral (
        select '{"id":' || id || ',"country":' || to_json(country) || '}' as object from artist where id = album.artist_id
      ) artist on true
      cross join lateral (
        select coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title) || '}}', ',' order by id), '') as edges
        from (select id, title from track where album_id = album.id order by id limit 5) track
      ) tracks`,
    values: valuesOf('from'),
  },
};

export const relations: readonly Workload[] = [relatedFilter, countFilter, relatedOrder, countOrder, plainView];
