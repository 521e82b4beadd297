/** Writes that fail because of a rule or a computed column of a view, and columns that the role can use for some things only. */
import type { Column, Table } from '../model/model.ts';
import { qualifiedName } from '../model/naming/names.ts';
import { type Examination, inWords, nameOf } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';
import type { RefusedRule } from './safety.ts';

export function findWrites(examination: Examination): Finding[] {
  return [...findRefusedWrites(examination), ...findComputedColumns(examination), ...findHiddenColumns(examination)];
}

/**
 * One finding for each rule that blocks a write that the role could otherwise do: PostgreSQL supports few rules on statements in WITH, and
 * even fewer if rows are returned.
 */
function findRefusedWrites(examination: Examination): Finding[] {
  return examination.safety.refusedRules.flatMap((rule) => {
    const table = examination.table(rule.tableId);
    if (!table || !abilities[rule.verb](table)) return [];
    return [finding('write-fails', table.kind, nameOf(table), describe(rule))];
  });
}

const abilities: Readonly<Record<RefusedRule['verb'], (table: Table) => boolean>> = {
  insert: ({ insertable }) => insertable,
  update: ({ updatable }) => updatable,
  delete: ({ deletable }) => deletable,
};

function describe({ name, verb, instead }: RefusedRule): string {
  // Inserting a single row needs no WITH.
  const what = verb === 'insert' && !instead ? 'every insert of several rows, and every nested one, fails' : `every ${verb} fails`;
  const why = instead
    ? 'PostgreSQL needs one unconditional action with a RETURNING clause'
    : 'PostgreSQL does not support DO ALSO rules in data-modifying WITH statements';
  return `${what} because of the rule "${name}": ${why}; replace it with a trigger`;
}

function findComputedColumns(examination: Examination): Finding[] {
  return examination.safety.computedColumns.flatMap(({ viewId, name, inserts, updates }) => {
    const view = examination.table(viewId);
    const column = view?.columns.find((candidate) => candidate.name === name);
    if (!view || !column) return [];
    const verbs = [
      ...(inserts && view.insertable && column.insertable ? ['insert'] : []),
      ...(updates && view.updatable && column.updatable ? ['update'] : []),
    ];
    if (verbs.length === 0) return [];
    const message = `every ${inWords(verbs)} with a value for it fails because the view computes it; leave it out, or write it in an INSTEAD OF trigger on the view`;
    return [finding('read-only-column', 'column', qualifiedName(nameOf(view), name), message)];
  });
}

function findHiddenColumns(examination: Examination): Finding[] {
  const readable = examination.model.tables.filter(({ selectable }) => selectable);
  return readable.flatMap((table) => [...hiddenKey(examination, table), ...writeOnly(examination, table)]);
}

/** Every query needs the key, which orders and identifies rows. */
function hiddenKey(examination: Examination, table: Table): Finding[] {
  const hidden = table.primaryKey.filter(({ selectable }) => !selectable);
  if (hidden.length === 0) return [];
  const names = inWords(hidden.map(({ name }) => name));
  const message = `${examination.model.role} cannot select its key column${hidden.length > 1 ? 's' : ''} ${names}, so every query for its rows fails; grant select on the key`;
  const remedy = grant(examination, table, hidden);
  return [finding('key-not-selectable', table.kind, nameOf(table), message, { remedy })];
}

function writeOnly(examination: Examination, table: Table): Finding[] {
  return table.columns.flatMap((column) => {
    if (column.selectable || (!column.insertable && !column.updatable)) return [];
    const verbs = inWords([...(column.insertable ? ['insert'] : []), ...(column.updatable ? ['update'] : [])]);
    const message = `${examination.model.role} can ${verbs} but not select it, so it is missing from rows and filters; if the role should read it, grant select on it`;
    const name = qualifiedName(nameOf(table), column.name);
    return [finding('write-only-column', 'column', name, message, { remedy: grant(examination, table, [column]) })];
  });
}

function grant(examination: Examination, { id }: Table, columns: readonly Column[]): string | null {
  const table = examination.catalogTable(id);
  if (!table) return null;
  const names = columns.map(({ name }) => examination.quote(name)).join(', ');
  return `grant select (${names}) on table ${examination.tableSql(table)} to ${examination.roleSql};`;
}
