/** Pages after a cursor, each served by an index: with a filter, and ordered by a nullable column. */
import { scatter, type Variables, valuesOf, type Workload } from './workload.ts';

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

const nullableOrder: Workload = {
  name: 'nullable-order',
  title: 'keyset page of 20, order by a nullable column, nulls last',
  role: 'anon',
  variables: (index) => ({ rating: (scatter(index, 7, 0, 490) / 100).toFixed(2) }),
  position: {
    rowgraph: `query Position($rating: BigFloat!) {
      albumCollection(first: 1, filter: { rating: { gte: $rating } }, orderBy: [{ rating: AscNullsLast }, { id: AscNullsLast }]) { pageInfo { endCursor } }
    }`,
    postgraphile: `query Position($rating: BigFloat!) {
      albums(first: 1, filter: { rating: { greaterThanOrEqualTo: $rating } }, orderBy: [RATING_ASC, ROW_ID_ASC]) { pageInfo { endCursor } }
    }`,
    statement: {
      text: `select '{"data":{"endCursor":"' || encode(convert_to('[' || rating || ',' || id || ']', 'utf8'), 'base64') || '"}}'
        from album where rating >= $1::numeric order by rating, id limit 1`,
      values: valuesOf('rating'),
    },
  },
  rowgraph: `query NullableOrder($cursor: Cursor!) {
    albumCollection(first: 20, after: $cursor, orderBy: [{ rating: AscNullsLast }, { id: AscNullsLast }]) { edges { node { id title rating } } }
  }`,
  postgraphile: `query NullableOrder($cursor: Cursor!) {
    albums(first: 20, after: $cursor, orderBy: [RATING_ASC, ROW_ID_ASC]) { edges { node { id: rowId title rating } } }
  }`,
  statement: {
    text: `select '{"data":{"albumCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"title":' || to_json(title)
        || ',"rating":' || coalesce('"' || rating || '"', 'null') || '}}', ',' order by rating, id), '') || ']}}}'
      from (
        (select id, title, rating from album where (rating, id) > ($1::numeric, $2::int) order by rating, id limit 20)
        union all
        (select id, title, rating from album where rating is null order by id limit 20)
        limit 20
      ) album`,
    values: cursorValues,
  },
};

export const keysetPages: readonly Workload[] = [keyset, nullableOrder];
