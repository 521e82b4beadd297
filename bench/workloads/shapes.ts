/** Requests that stress other parts of a server: joins, many root fields, many aliases, arrays and documents. */
import { scatter, type Variables, valuesOf, type Workload } from './workload.ts';

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

const numbers = Array.from({ length: 10 }, (_, index) => index);

function tenIds(index: number): Variables {
  return Object.fromEntries(numbers.map((number) => [`id${number}`, scatter(index, 20 + number, 1, 50_000)]));
}

const tenRoots: Workload = {
  name: 'ten-roots',
  title: 'ten root fields, a row each',
  role: 'anon',
  variables: tenIds,
  rowgraph: `query TenRoots(${numbers.map((n) => `$id${n}: Int!`).join(', ')}) {
    ${numbers.map((n) => `album${n}: albumByPk(id: $id${n}) { id title label plays }`).join('\n    ')}
  }`,
  postgraphile: `query TenRoots(${numbers.map((n) => `$id${n}: Int!`).join(', ')}) {
    ${numbers.map((n) => `album${n}: album(rowId: $id${n}) { id: rowId title label plays }`).join('\n    ')}
  }`,
  statement: {
    text: `select '{"data":{' || ${numbers
      .map(
        (
          n,
        ) => `'"album${n}":' || (select '{"id":' || id || ',"title":' || to_json(title) || ',"label":' || to_json(label) || ',"plays":' || plays || '}'
          from album where id = $${n + 1}::int)`,
      )
      .join(" || ',' || ")} || '}}'`,
    values: valuesOf(...numbers.map((n) => `id${n}`)),
  },
};

const aliases = numbers.map((n) => `id${n}: id title${n}: title seconds${n}: seconds plays${n}: plays loudness${n}: loudness`).join(' ');

const fiftyAliases: Workload = {
  name: 'fifty-aliases',
  title: 'page of 10 rows, 50 aliases of 5 columns',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 9, 1, 240_000) }),
  rowgraph: `query FiftyAliases($from: Int!) {
    trackCollection(first: 10, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) { edges { node { ${aliases} } } }
  }`,
  postgraphile: `query FiftyAliases($from: Int!) {
    tracks(first: 10, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) { edges { node { ${aliases.replaceAll(': id ', ': rowId ')} } } }
  }`,
  statement: {
    text: `select '{"data":{"trackCollection":{"edges":[' || coalesce(string_agg('{"node":{' || ${numbers
      .map(
        (n) => `'"id${n}":' || id || ',"title${n}":' || title_json || ',"seconds${n}":' || seconds || ',"plays${n}":' || plays
          || ',"loudness${n}":' || loudness_json`,
      )
      .join(" || ',' || ")} || '}}', ',' order by id), '') || ']}}}'
      from (
        select id, to_json(title)::text as title_json, seconds, plays, coalesce('"' || loudness || '"', 'null') as loudness_json
        from track where id > $1::int order by id limit 10
      ) track`,
    values: valuesOf('from'),
  },
};

const arraysAndJson: Workload = {
  name: 'arrays-and-json',
  title: 'page of 50 rows with an array and a jsonb column',
  role: 'anon',
  variables: (index) => ({ from: scatter(index, 10, 1, 49_000) }),
  rowgraph: `query ArraysAndJson($from: Int!) {
    albumCollection(first: 50, filter: { id: { gt: $from } }, orderBy: [{ id: AscNullsLast }]) { edges { node { id genres details } } }
  }`,
  postgraphile: `query ArraysAndJson($from: Int!) {
    albums(first: 50, filter: { rowId: { greaterThan: $from } }, orderBy: [ROW_ID_ASC]) { edges { node { id: rowId genres details } } }
  }`,
  statement: {
    text: `select '{"data":{"albumCollection":{"edges":[' || coalesce(string_agg('{"node":{"id":' || id || ',"genres":' || to_json(genres)
      || ',"details":' || to_json(details::text) || '}}', ',' order by id), '') || ']}}}'
      from (select id, genres, details from album where id > $1::int order by id limit 50) album`,
    values: valuesOf('from'),
  },
};

export const shapes: readonly Workload[] = [manyToMany, tenRoots, fiftyAliases, arraysAndJson];
