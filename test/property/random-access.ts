/** Random privileges of each role, per table and per column, and row level security. */
import { randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import { randomCondition } from './random-tables.ts';
import { keyColumns, type PolicyDescription, type SchemaDescription, type TableDescription } from './schema-description.ts';
import { quoteIdentifier } from './schema-sql.ts';

/** Policies that look at who asks. */
const claimCondition = "current_setting('request.jwt.claims', true)::json ->> 'sub' = 'ann'";

/** Adds grants and policies. */
export function addAccess(random: RandomSource, schema: SchemaDescription, roles: readonly string[]): void {
  for (const table of schema.tables) {
    for (const role of roles) for (const privilegesSql of randomPrivileges(random, table)) table.grants.push({ role, privilegesSql });
    if (table.view || random.chance(0.75)) continue;
    table.rowSecurity = true;
    const count = random.integer(0, 3);
    for (let number = 0; number < count; number += 1) table.policies.push(randomPolicy(random, table, roles, number));
  }
}

function randomPrivileges(random: RandomSource, table: TableDescription): string[] {
  const kind = random.integer(0, 9);
  if (kind < 5) return ['all'];
  if (kind < 6) return random.subset(['select', 'insert', 'update', 'delete'], 0.5);
  if (kind < 7) return ['select'];
  const on = (verb: string, columns: readonly string[]) =>
    columns.length > 0 ? [`${verb} (${columns.map((name) => quoteIdentifier(name)).join(', ')})`] : [];
  const some = (probability: number) => random.subset(table.columns, probability).map(({ name }) => name);
  // A key that cannot be read makes nearly everything of the table fail.
  const key = random.chance(0.9) ? keyColumns(table) : [];
  return [
    ...on('select', [...new Set([...key, ...some(0.6)])]),
    ...on('insert', some(0.5)),
    ...on('update', some(0.5)),
    ...(random.chance(0.5) ? ['delete'] : []),
  ];
}

function randomPolicy(random: RandomSource, table: TableDescription, roles: readonly string[], number: number): PolicyDescription {
  return {
    name: `${[...randomName(random, 0.3)].slice(0, 20).join('')}${number}`,
    command: random.pick(['all', 'all', 'select', 'select', 'insert', 'update', 'delete']),
    role: random.pick([...roles, 'public']),
    conditionSql: random.chance(0.2) ? claimCondition : random.chance(0.4) ? 'true' : randomCondition(random, table),
  };
}
