/** What the proof that roles may share prepared statements takes for granted of their texts (docs/internals.md, "What roles share"). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { writesOf } from '../../src/catalog/privileges.ts';
import { OwnNames } from '../../src/engine/snapshot/role-standing.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { openRecordedPool, type RecordedPool } from '../support/recorded-pool.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';

const operations = path.join(import.meta.dirname, 'operations');
const expected = path.join(import.meta.dirname, 'expected');
const role = 'service_role';

let databases: TestDatabases;
let recorded: RecordedPool;
let graph: Rowgraph;
/** Owns the prepared statements of the role alone: its name, the roles whose policies hold for it, and how often roles were written. */
let owners: ReadonlySet<string>;
/** What a query of which all roles can share: the tables of the schema with neither policies nor types of somebody's. */
let independent: ReadonlySet<string>;

before(async () => {
  databases = await startTestDatabases();
  const database = await databases.create(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));
  const rows = await database.run(`
    select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'm') and not c.relrowsecurity
      and not exists (select from pg_attribute a join pg_type t on t.oid = a.atttypid where a.attrelid = c.oid and (t.typtype in ('c', 'd') or (t.typtype = 'b' and t.typcategory <> 'A' and t.oid >= 16384)))`);
  const ownerNow = async (): Promise<string> => {
    const [own] = await database.run(`select concat_ws(' ', r.rolbypassrls, ${writesOf('pg_authid', 'pg_auth_members')}, (
      select string_agg(m.oid::text, ' ' order by m.oid) from pg_roles m where m.oid <> r.oid and pg_has_role(r.oid, m.oid, 'USAGE')
    )) as policies from pg_roles r where r.rolname = '${role}'`);
    return new OwnNames().nameOf({ name: role, policyRoles: String(own?.['policies']), assumable: true, isLogin: false, powers: [] });
  };
  const ownerBefore = await ownerNow();
  independent = new Set(rows.map(({ relname }) => `"public"."${String(relname)}"`));
  recorded = openRecordedPool(database.url, 1);
  graph = await createRowgraph({ database: recorded.pool });
  // PostgreSQL may have counted writes of roles meanwhile.
  owners = new Set([ownerBefore, await ownerNow()]);
});
after(async () => {
  await graph.close();
  await recorded.pool.end();
  await databases.close();
});

function withoutLiterals(text: string): string {
  return text.replaceAll(/'(?:[^']|'')*'/g, "''");
}

test('a statement that roles share names tables alone that all roles can share', async () => {
  const counts = { shared: 0, own: 0 };
  for (const file of globSync('*.graphql', { cwd: operations })) {
    const query = readFileSync(path.join(operations, file), 'utf8');
    const values = path.join(operations, file.replace('.graphql', '.json'));
    const variables = existsSync(values) ? (JSON.parse(readFileSync(values, 'utf8')) as Record<string, unknown>) : null;
    const start = recorded.texts.length;
    await graph.execute({ query, variables }, { role });
    for (const sent of recorded.texts.slice(start)) {
      const [, text, digest] = /^(.*) \/\* rowgraph_(\S+) \*\/$/s.exec(sent) ?? [];
      if (text === undefined) continue;
      const isOwn = [...owners].some(
        (owner) => digest === createHash('sha256').update(`${owner}\0${text}`).digest('base64url').slice(0, 22),
      );
      counts[isOwn ? 'own' : 'shared'] += 1;
      const names = withoutLiterals(text).match(/"(?:[^"]|"")*"\."(?:[^"]|"")*"\(?/g) ?? [];
      const isShareable = query.trimStart().startsWith('mutation') ? false : names.every((name) => independent.has(name));
      assert.equal(!isOwn, isShareable, `${file}: ${text}`);
    }
  }
  assert.ok(counts.shared > 40 && counts.own > 20, JSON.stringify(counts));
});

test('a statement calls functions of PostgreSQL by their full names, so that it never calls another', () => {
  const syntax = /^(?:coalesce|greatest|least|any|array|extract|numeric|operator|varying)$/;
  for (const file of globSync('*.sql', { cwd: expected })) {
    const text = withoutLiterals(readFileSync(path.join(expected, file), 'utf8')).replaceAll(/"(?:[^"]|"")*"/g, '"');
    for (const [, ahead, name] of text.matchAll(/(\bas |\bon conflict \()?(?<![.\w"])([a-z_]\w*)\(/g)) {
      if (ahead === undefined) assert.match(name!, syntax, file);
    }
  }
});
