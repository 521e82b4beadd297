/** Random privileges of each role, per table and per column, and row level security. */
import { randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import { randomCondition } from './random-tables.ts';
import {
  type GrantDescription,
  keyColumns,
  type PolicyDescription,
  type SchemaDescription,
  type TableDescription,
  type Verb,
} from './schema-description.ts';

/** Policies that look at who asks. */
const claimCondition = "current_setting('request.jwt.claims', true)::json ->> 'sub' = 'ann'";

const verbs: readonly Verb[] = ['select', 'insert', 'update', 'delete'];

/** Adds grants and policies. */
export function addAccess(random: RandomSource, schema: SchemaDescription, roles: readonly string[]): void {
  for (const table of schema.tables) {
    for (const role of roles) table.grants.push(...randomGrants(random, table).map((grant) => ({ role, ...grant })));
    if (table.view || random.chance(0.75)) continue;
    table.rowSecurity = true;
    const count = random.integer(0, 3);
    for (let number = 0; number < count; number += 1) table.policies.push(randomPolicy(random, table, roles, number));
  }
}

function randomGrants(random: RandomSource, table: TableDescription): Omit<GrantDescription, 'role'>[] {
  const kind = random.integer(0, 9);
  const whole = (verb: GrantDescription['verb']) => ({ verb, columns: null });
  if (kind < 5) return [whole('all')];
  if (kind < 6) return random.subset(verbs, 0.5).map(whole);
  if (kind < 7) return [whole('select')];
  const some = (probability: number) => random.subset(table.columns, probability).map(({ name }) => name);
  // A key that cannot be read makes nearly everything of the table fail.
  const key = random.chance(0.9) ? keyColumns(table) : [];
  const grants = [
    { verb: 'select', columns: [...new Set([...key, ...some(0.6)])] },
    { verb: 'insert', columns: some(0.5) },
    { verb: 'update', columns: some(0.5) },
  ] as const;
  return [...grants.filter(({ columns }) => columns.length > 0), ...(random.chance(0.5) ? [whole('delete')] : [])];
}

function randomPolicy(random: RandomSource, table: TableDescription, roles: readonly string[], number: number): PolicyDescription {
  return {
    name: `${[...randomName(random, 0.3)].slice(0, 20).join('')}${number}`,
    command: random.pick(['all', 'all', 'select', 'select', 'insert', 'update', 'delete']),
    role: random.pick([...roles, 'public']),
    conditionSql: random.chance(0.2) ? claimCondition : random.chance(0.4) ? 'true' : randomCondition(random, table),
  };
}
