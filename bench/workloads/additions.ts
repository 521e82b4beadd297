/** Reads that only the additions offer: full-text search, JSON, distinct rows, nearest vectors. */
import { scatter, valuesOf, type Workload } from './workload.ts';

const search: Workload = {
  name: 'search',
  title: 'full-text search, best 20 of some 30 matches, with rank',
  role: 'anon',
  variables: (index) => ({ text: `topic${scatter(index, 21, 1, 1_500)}` }),
  rowgraph: `query Search($text: String!) {
    articleCollection(first: 20, search: { text: $text }, orderBy: [{ searchRank: DescNullsLast }]) {
      edges { node { id title searchRank } }
    }
  }`,
  statement: {
    text: `select '{"data":{"articleCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title)
      || ',"searchRank":' || rank || '}}', ',' order by rank desc, id), '') || ']}}}'
      from (
        select id, title, ts_rank(words, query) as rank from article, websearch_to_tsquery('english', $1::text) query
        where words @@ query order by rank desc, id limit 20
      ) article`,
    values: valuesOf('text'),
  },
};

const json: Workload = {
  name: 'json',
  title: 'rows whose JSON contains an object, with a part of it, page of 20',
  role: 'anon',
  variables: (index) => ({ part: JSON.stringify({ topic: scatter(index, 22, 1, 1_500) }) }),
  rowgraph: `query Json($part: JSON!) {
    articleCollection(first: 20, filter: { details: { contains: $part } }, orderBy: [{ id: AscNullsLast }]) {
      edges { node { id title details(path: ["place"]) } }
    }
  }`,
  statement: {
    text: `select '{"data":{"articleCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title)
      || ',"details":' || coalesce(to_json((details #> '{place}')::text)::text, 'null') || '}}', ',' order by id), '') || ']}}}'
      from (select * from article where details @> $1::jsonb order by id limit 20) article`,
    values: valuesOf('part'),
  },
};

const distinct: Workload = {
  name: 'distinct',
  title: 'most played track of each album, page of 20',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 23, 1, 49_000) }),
  rowgraph: `query Distinct($from: Int!) {
    trackCollection(first: 20, filter: { albumId: { gt: $from } }, distinctOn: [albumId], orderBy: [{ albumId: AscNullsLast }, { plays: DescNullsLast }]) {
      edges { node { albumId id title plays } }
    }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"edges":[' || coalesce(string_agg('{"node":{"albumId":' || album_id || ',"id":' || id
      || ',"title":' || to_json(title) || ',"plays":' || plays || '}}', ',' order by album_id), '') || ']}}}'
      from (
        select distinct on (album_id) album_id, id, title, plays from track where album_id > $1::int
        order by album_id, plays desc nulls last, id limit 20
      ) track`,
    values: valuesOf('from'),
  },
};

const nearest: Workload = {
  name: 'nearest',
  title: 'nearest 10 of 20,000 vectors with 256 dimensions (HNSW)',
  role: 'anon',
  extension: 'vector',
  variables: (index) => ({ to: Array.from({ length: 256 }, (_, place) => scatter(index, place, 0, 1000) / 1000) }),
  rowgraph: `query Nearest($to: [Float!]!) {
    passageCollection(first: 10, nearest: { embedding: { to: $to, metric: COSINE } }) { edges { distance node { id title } } }
  }`,
  statement: {
    text: `select '{"data":{"passageCollection":{"edges":[' || coalesce(string_agg('{"distance":' || distance || ',"node":{"id":' || id
      || ',"title":' || to_json(title) || '}}', ',' order by distance, id), '') || ']}}}'
      from (select id, title, embedding <=> $1::vector as distance from passage order by embedding <=> $1::vector limit 10) passage`,
    values: ({ to }) => [JSON.stringify(to)],
  },
};

export const additions: readonly Workload[] = [search, json, distinct, nearest];
