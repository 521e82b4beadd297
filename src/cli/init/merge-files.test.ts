import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeIgnored, mergeManifest, mergePlugin, mergeVariables, readVariables } from './merge-files.ts';

const additions = {
  name: 'app',
  type: 'module' as const,
  scripts: { api: 'rowgraph dev', check: 'tsc --noEmit' },
  dependencies: { graphql: '^16' },
  devDependencies: { rowgraph: '^1', typescript: '^5' },
};

test('package.json keeps its order, its indentation, its scripts and its versions', () => {
  const before =
    '{\n\t"name": "mine",\n\t"scripts": { "check": "biome" },\n\t"devDependencies": { "typescript": "~5.1" },\n\t"x": [1]\n}\n';
  const { text, notes } = mergeManifest(before, additions, false);
  assert.equal(text.slice(0, 20), '{\n\t"name": "mine",\n\t');
  const after = JSON.parse(text);
  assert.deepEqual(after.scripts, { check: 'biome', api: 'rowgraph dev' });
  assert.deepEqual(after.devDependencies, { rowgraph: '^1', typescript: '~5.1' });
  assert.deepEqual([after.type, after.dependencies, after.x], ['module', { graphql: '^16' }, [1]]);
  assert.deepEqual(notes, [
    '"type": "module"',
    'scripts api',
    'packages graphql, rowgraph',
    'its script "check" stays; rowgraph\'s would be: tsc --noEmit',
  ]);
  assert.equal(JSON.parse(mergeManifest(before, additions, true).text).scripts.check, 'tsc --noEmit');
  const again = mergeManifest(text, additions, false);
  assert.deepEqual([again.text, again.notes.length], [text, 1]);
});

test('variables are added once, after what is there, and read as they were written', () => {
  const url = 'postgres://u:p#\'$HOME"\\n@h/d?a=b c';
  const groups = [['Secrets.', { A: '1', B: url }]] as const;
  const { text, notes } = mergeVariables('A=mine\nX=y', groups);
  assert.equal(text, `A=mine\nX=y\n\n# Secrets.\nB='${url.replace("'", '%27')}'\n`);
  assert.deepEqual(notes, ['variables B']);
  assert.equal(readVariables(text).B, url.replace("'", '%27'));
  assert.deepEqual(mergeVariables(text, groups), { text, notes: [] });
  assert.deepEqual(mergeVariables(null, groups).text.split('\n')[0], '# Secrets.');
});

test('git ignores the file of variables, unless it does already', () => {
  assert.equal(mergeIgnored(null, ['node_modules', '.env']).text, 'node_modules\n.env\n');
  assert.equal(mergeIgnored('/node_modules/\ndist', ['node_modules', '.env']).text, '/node_modules/\ndist\n.env\n');
  for (const line of ['.env', '/.env', '.env*']) assert.deepEqual(mergeIgnored(`${line}\n`, ['.env']).notes, [], line);
  for (const line of ['.env.local', '*.env.bak', '#.env']) assert.deepEqual(mergeIgnored(`${line}\n`, ['.env']).notes, ['.env'], line);
});

test('a plugin is added to the options of the compiler, whose comments stay', () => {
  const add = (text: string) => mergePlugin(text, 'p', { a: 1 })?.text;
  assert.equal(
    add('{ "compilerOptions": { /* mine */ "strict": true } }'),
    '{ "compilerOptions": {\n    "plugins": [{"name":"p","a":1}], /* mine */ "strict": true } }',
  );
  assert.equal(
    add('{ "compilerOptions": { "plugins": [{ "name": "next" }] } }'),
    '{ "compilerOptions": { "plugins": [{"name":"p","a":1},{ "name": "next" }] } }',
  );
  assert.equal(add('{ "compilerOptions": { "plugins": [ ] } }'), '{ "compilerOptions": { "plugins": [{"name":"p","a":1}] } }');
  assert.equal(add('{ "compilerOptions": { "plugins": [{ "name": "p" }] } }'), '{ "compilerOptions": { "plugins": [{ "name": "p" }] } }');
  assert.equal(add('{ "extends": "./base.json" }'), undefined);
});
