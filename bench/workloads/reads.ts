/** The everyday reads: one row, pages, nested pages, keyset pages, counts. */
import { scatter, valuesOf, type Workload } from './workload.ts';

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

const bigPage: Workload = {
  name: 'big-page',
  title: 'big page, 100 rows of 12 columns',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 6, 1, 49_000) }),
  rowgraph: `query BigPage($from: Int!) {
    albumCollection(first: 100, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) {
      edges { node { id artistId publicId title description kind releasedOn label price rating plays createdAt } }
    }
  }`,
  postgraphile: `query BigPage($from: Int!) {
    albums(first: 100, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) {
      edges { node { id: rowId artistId publicId title description kind releasedOn label price rating plays createdAt } }
    }
  }`,
  statement: {
    text: `select '{"data":{"albumCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"artistId":' || artist_id
      || ',"publicId":"' || public_id || '","title":' || to_json(title) || ',"description":' || to_json(description) || ',"kind":"' || kind
      || '","releasedOn":' || coalesce('"' || released_on || '"', 'null') || ',"label":' || to_json(label) || ',"price":"' || price
      || '","rating":' || coalesce('"' || rating || '"', 'null') || ',"plays":' || plays || ',"createdAt":' || to_json(created_at)
      || '}}', ',' order by id), '') || ']}}}'
      from (select * from album where id > $1::int order by id limit 100) album`,
    values: valuesOf('from'),
  },
};

export const reads: readonly Workload[] = [point, page, nested, count, bigPage];
