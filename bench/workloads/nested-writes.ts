/**
 * Inserts of rows together with related rows: a few, and very many in one request. PostGraphile 5 has no plugin for them, and the plugin
 * for version 4 does not work with it.
 */
import { scatter, valuesOf, type Workload } from './workload.ts';

const few = {
  role: 'authenticated',
  variables: (index: number) => ({
    listener: scatter(index, 18, 1, 10_000),
    name: `Set number ${index}`,
    note1: `Opens ${index}`,
    note2: `Goes on ${index}`,
    note3: `Ends ${index}`,
  }),
  before: 'truncate setlist, setlist_entry',
  changing: ['id'],
} as const;

/** Each document has a name of its own, by which the bare handler recognizes it. */
function insertFew(operation: string): string {
  return `mutation ${operation}($listener: Int!, $name: String!, $note1: String!, $note2: String!, $note3: String!) {
    insertIntoSetlistCollection(objects: [{
      listenerId: $listener
      name: $name
      setlistEntryCollection: { create: [{ position: 1, note: $note1 }, { position: 2, note: $note2 }, { position: 3, note: $note3 }] }
    }]) {
      records { id listenerId name setlistEntryCollection(orderBy: [{ position: AscNullsLast }]) { edges { node { position note } } } }
    }
  }`;
}

/** What a person would write who knows that no policy or trigger of the entries reads their set list: one statement. */
const fewInOne: Workload = {
  ...few,
  name: 'nested-insert',
  title: 'insert one row with 3 that belong to it, return all; by hand, one statement that no policy of the 3 could see the row in',
  rowgraph: insertFew('NestedInsert'),
  statement: {
    text: `with parent as (insert into setlist (listener_id, name) values ($1::int, $2) returning id, listener_id, name),
      entry as (
        insert into setlist_entry (setlist_id, position, note)
        select parent.id, given.position, given.note from parent, (values (1, $3), (2, $4), (3, $5)) as given (position, note)
        returning position, note
      )
      select '{"data":{"insertIntoSetlistCollection":{"records":[{"id":"' || id || '","listenerId":' || listener_id || ',"name":' || to_json(name)
        || ',"setlistEntryCollection":{"edges":[' || entries.edges || ']}}]}}}'
      from parent, (
        select string_agg('{"node":{"position":' || position || ',"note":' || to_json(note) || '}}', ',' order by position) as edges from entry
      ) as entries`,
    values: valuesOf('listener', 'name', 'note1', 'note2', 'note3'),
  },
};

/**
 * What a person would write if policies and triggers must see the rows written before: one statement per table, and one that reads, as
 * rowgraph does.
 */
const fewInSteps: Workload = {
  ...few,
  name: 'nested-insert-steps',
  title: 'the same; by hand, a statement for each table and one that reads, as policies and triggers of the 3 need it',
  rowgraph: insertFew('NestedInsertSteps'),
  ahead: [
    {
      text: "insert into setlist (listener_id, name) values ($1::int, $2) returning set_config('bench.setlist', id::text, true)",
      values: valuesOf('listener', 'name'),
    },
    {
      text: `insert into setlist_entry (setlist_id, position, note)
        select (select current_setting('bench.setlist')::bigint), position, note from (values (1, $1), (2, $2), (3, $3)) as given (position, note)`,
      values: valuesOf('note1', 'note2', 'note3'),
    },
  ],
  statement: {
    text: `select '{"data":{"insertIntoSetlistCollection":{"records":[{"id":"' || id || '","listenerId":' || listener_id || ',"name":' || to_json(name)
        || ',"setlistEntryCollection":{"edges":[' || (
          select string_agg('{"node":{"position":' || position || ',"note":' || to_json(note) || '}}', ',' order by position)
          from setlist_entry where setlist_id = setlist.id
        ) || ']}}]}}}'
      from setlist where id = (select current_setting('bench.setlist')::bigint)`,
    values: valuesOf(),
  },
};

const many: Workload = {
  name: 'nested-insert-many',
  title: 'insert 1,000 rows with 10 each that belong to them',
  role: 'authenticated',
  requests: 3,
  variables: (index) => ({
    objects: Array.from({ length: 1_000 }, (_, number) => ({
      listenerId: scatter(number, 19 + index, 1, 10_000),
      name: `Set number ${number}`,
      setlistEntryCollection: {
        create: Array.from({ length: 10 }, (_, position) => ({ position, note: `Entry ${position} of ${number}` })),
      },
    })),
  }),
  before: 'truncate setlist, setlist_entry',
  rowgraph: `mutation NestedInsertMany($objects: [SetlistInsertInput!]!) {
    insertIntoSetlistCollection(objects: $objects) { affectedCount }
  }`,
  // The keys are drawn first, so that one statement can write both tables.
  statement: {
    text: `with given as materialized (
        select nextval('setlist_id_seq') as id, object from jsonb_array_elements($1::jsonb) with ordinality as o (object, number) order by number
      ),
      parent as (
        insert into setlist (id, listener_id, name) overriding system value
        select id, (object ->> 'listenerId')::int, object ->> 'name' from given
        returning id
      ),
      entry as (
        insert into setlist_entry (setlist_id, position, note)
        select given.id, (entry ->> 'position')::int, entry ->> 'note'
        from given, jsonb_array_elements(object -> 'setlistEntryCollection' -> 'create') as entry
      )
      select '{"data":{"insertIntoSetlistCollection":{"affectedCount":' || count(*) || '}}}' from parent`,
    values: ({ objects }) => [JSON.stringify(objects)],
  },
};

export const nestedWrites: readonly Workload[] = [fewInOne, fewInSteps, many];
