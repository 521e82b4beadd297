import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { refuseNode } from './required-node.ts';

test('a Node that is too old is rejected in one line', () => {
  for (const version of ['18.19.1', '20.20.0', '22.17.9', '22.1.0']) {
    assert.equal(refuseNode(version), `rowgraph needs Node 22.18 or newer; this is ${version}`);
  }
  for (const version of ['22.18.0', '22.20.1', '23.0.0', '24.1.0', '26.0.0']) assert.equal(refuseNode(version), null, version);
});

test('the version is the one in package.json', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { engines: { node: string } };
  assert.match(refuseNode('0.0.0') ?? '', new RegExp(`Node ${engines.node.slice(2)} or newer`));
});

test('what an old Node loads before it is rejected imports nothing that it may lack', () => {
  const importsOf = (file: string): (string | undefined)[] => {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8');
    return [...text.matchAll(/^import (?:.* from )?'(.+)';$/gm)].map(([, name]) => name);
  };
  assert.deepEqual(importsOf('cli/main.ts'), ['node:os', 'node:path', '../required-node.ts']);
  assert.equal(importsOf('index.ts')[0], './check-node.ts');
  assert.deepEqual(importsOf('check-node.ts'), ['./required-node.ts']);
  assert.deepEqual(importsOf('required-node.ts'), []);
});
