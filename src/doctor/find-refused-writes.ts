/**
 * Mutations that fail because of a rule (`create rule`): PostgreSQL supports few rules on statements in WITH, and even fewer if rows are
 * returned.
 */
import type { Table } from '../model/model.ts';
import { qualifiedName } from '../model/object-names.ts';
import type { Examination } from './examination.ts';
import type { RefusedRule } from './facts.ts';
import { type Finding, finding } from './report.ts';

/** One finding for each rule that blocks a write that the role could otherwise do. */
export function findRefusedWrites({ model, facts }: Examination): Finding[] {
  return facts.refusedRules.flatMap((rule) => {
    const table = model.tables.find(({ id }) => id === rule.tableId);
    if (!table || !abilities[rule.verb](table)) return [];
    return [finding('write-fails', table.kind, qualifiedName(table.schema, table.name), describe(rule))];
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
