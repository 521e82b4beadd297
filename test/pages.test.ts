/**
 * Runs the pages of the documentation that contain SQL, requests and answers: each block in the order of its page, comparing each answer.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { type ASTNode, type DefinitionNode, Kind, parse, print, visit } from 'graphql';
import { parts } from '../site/navigation.ts';
import { roleStatements } from '../src/cli/commands/roles.ts';
import { supabaseStatements } from '../src/cli/dev/supabase.ts';
import { type Caller, createRowgraph, type Rowgraph } from '../src/index.ts';
import { directiveMembers } from '../src/model/check-directives.ts';
import { type Operator, operators } from '../src/model/types/operators.ts';
import { readPageSteps } from './support/page-steps.ts';
import { startTestDatabases } from './support/test-databases.ts';

const read = (page: string): Promise<string> => readFile(new URL(`../docs/${page}`, import.meta.url), 'utf8');

const callers: Readonly<Record<string, Caller>> = {
  anon: { role: 'anon' },
  authenticated: { role: 'authenticated', claims: { sub: 'ada' } },
  Ada: { role: 'authenticated', claims: { sub: '00000000-0000-4000-8000-00000000000a' } },
};

/**
 * Runs pages, one after the other, with the roles, grants and event triggers of `rowgraph dev`, on a PostgreSQL server. Resolves to the graph after them.
 */
async function runPages(context: TestContext, ...pages: readonly string[]): Promise<Rowgraph> {
  const databases = await startTestDatabases();
  const { url, run } = await databases.create(roleStatements({ schemas: ['public'], anonRole: 'anon', grants: 'all', password: null }));
  const superuser = url.replace('authenticator', 'postgres');
  const graph = await createRowgraph({ database: superuser, introspection: 'on', schemaTriggers: true });
  context.after(async () => {
    await graph.close();
    await databases.close();
  });
  const texts = await Promise.all(pages.map(read));
  const available = await run('select name from pg_available_extensions');
  const isPossible = (needs: string | null): boolean => needs === null || available.some(({ name }) => name === needs);
  const steps = texts.flatMap((text) => readPageSteps(text)).filter(({ needs }) => isPossible(needs));
  await run(supabaseStatements(steps.map((step) => (step.kind === 'sql' ? step.text : '')).join('\n')));
  await graph.reload();
  for (const step of steps) {
    if (step.kind === 'sql') {
      await run(step.text);
      await graph.reload();
    } else if (step.kind === 'types') compareTypes(await graph.sdl(), step.text);
    else {
      const caller = callers[step.askedBy];
      assert.ok(caller, `${pages.join()}: nobody is called ${step.askedBy}`);
      const result = await graph.execute({ query: step.query }, caller);
      // Compared as text, because the order of keys matters.
      assert.equal(JSON.stringify(result), JSON.stringify(JSON.parse(step.answer)), step.query);
    }
  }
  return graph;
}

/** Checks that each type is in the schema as it is shown. Descriptions may be left out. */
function compareTypes(sdl: string, shown: string): void {
  const definitions = new Map(parse(sdl).definitions.map((definition) => [nameOf(definition), definition]));
  for (const definition of parse(shown).definitions) {
    const real = definitions.get(nameOf(definition));
    assert.ok(real, `The schema has no ${nameOf(definition)}`);
    assert.equal(print(withoutDescriptions(real)), print(withoutDescriptions(definition)));
    for (const description of descriptionsOf(definition)) assert.ok(descriptionsOf(real).includes(description), description);
  }
}

function nameOf(definition: DefinitionNode): string | undefined {
  return 'name' in definition ? definition.name?.value : undefined;
}

function withoutDescriptions(node: ASTNode): ASTNode {
  return visit(node, { [Kind.STRING]: (_node, key) => (key === 'description' ? null : undefined) });
}

function descriptionsOf(node: ASTNode): string[] {
  const found: string[] = [];
  visit(node, { [Kind.STRING]: ({ value }, key) => void (key === 'description' && found.push(value)) });
  return found;
}

/** The cells of the rows of a table below a heading. */
function rowsBelow(page: string, heading: string): string[][] {
  const section = page.slice(page.indexOf(`\n${heading}\n`) + heading.length + 2);
  const table = section.split('\n\n').find((paragraph) => paragraph.trim().startsWith('|')) ?? '';
  const lines = table.trim().split('\n').slice(2);
  return lines.map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function isAddition(operator: string): boolean {
  return ['any', 'all', 'length'].includes(operator) || (operators as Partial<typeof operators>)[operator as Operator]?.isAddition === true;
}

const codesOf = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The pages of the API, in the order in which their examples change the database. */
const apiPages = (parts['The API'] ?? []).filter((page) => /^docs\/api[./]/.test(page)).map((page) => page.replace('docs/', ''));

test('every example of docs/api has the answer that is shown, and its operators are those of the schema', async (context) => {
  assert.ok(apiPages.length > 10);
  const graph = await runPages(context, ...apiPages);
  const filters = new Map<string, string[]>();
  for (const definition of parse(await graph.sdl()).definitions) {
    if (definition.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION || !definition.name.value.endsWith('Filter')) continue;
    // docs/additions has the additions.
    const names = (definition.fields?.map(({ name }) => name.value) ?? []).filter((name) => !isAddition(name));
    // The others are the filters of tables.
    if (names.includes('eq')) filters.set(definition.name.value.replace('Filter', ''), names.sort());
  }
  const shown = new Map<string, string[]>();
  for (const [types = '', operators] of rowsBelow(await read('api/filters.md'), '## Operators by type')) {
    const names = operators?.includes('cannot') ? [] : codesOf(types).filter((name) => name !== 'nodeId');
    if (types.includes('enums') && names.length > 0) names.push('Format', 'Condition');
    if (types.startsWith('lists of scalars')) names.push(...[...filters.keys()].filter((name) => name.endsWith('List')));
    for (const name of names) shown.set(name, codesOf(operators).sort());
  }
  assert.deepEqual([...shown].sort(), [...filters].sort());
});

for (const page of ['../site/index.md', 'types.md', 'from-supabase.md', 'from-pg_graphql.md']) {
  test(`every example of docs/${page} has the answer that is shown`, async (context) => {
    await runPages(context, page);
  });
}

test('every example of docs/additions has the answer that is shown', async (context) => {
  const pages = (parts.Additions ?? []).filter((page) => page.startsWith('docs/additions')).map((page) => page.replace('docs/', ''));
  assert.ok(pages.length > 5);
  await runPages(context, ...pages);
});

/** The features that docs/from-other-servers.md says are missing, written in this dialect. */
const missingFeatures = [
  '{ taskCollection(filter: {title: {similar: "a"}}) { totalCount } }',
  '{ taskCollection(filter: {title: {distinctFrom: "a"}}) { totalCount } }',
  '{ taskCollection(filter: {spent: {gt: 1}}) { totalCount } }',
  '{ taskCollection(filter: {entryCollection: {sum: {minutes: {gt: 1}}}}) { totalCount } }',
  '{ taskCollection { aggregate { stddevPop { points } } } }',
  '{ taskCollection { nodes { id } } }',
  'mutation { updateTaskCollection(set: {points: 1}, filter: {id: {eq: 1}}) { clientMutationId } }',
  'query @cached { taskCollection { totalCount } }',
];

test('every example of docs/from-other-servers.md has the answer that is shown, and features that it says are missing are rejected', async (context) => {
  const graph = await runPages(context, 'from-other-servers.md');
  for (const query of missingFeatures) {
    const { data, errors } = await graph.execute({ query }, { role: 'authenticated' });
    assert.deepEqual([data, errors?.[0]?.extensions?.code], [undefined, 'GRAPHQL_VALIDATION_FAILED'], query);
  }
});

test('docs/api/directives.md lists the members of comment directives', async () => {
  const kinds: Readonly<Record<string, string>> = { 'table, view': 'table', 'foreign key': 'relation' };
  const shown = rowsBelow(`\n${await read('api/directives.md')}`, '# Comment directives').map(
    ([on = '', member]) => `${kinds[on] ?? on} ${codesOf(member)}`,
  );
  const members = Object.entries(directiveMembers).flatMap(([kind, names]) => Object.keys(names).map((name) => `${kind} ${name}`));
  assert.deepEqual(shown.sort(), members.sort());
});
