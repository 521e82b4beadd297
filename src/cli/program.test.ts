import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgram } from './program.ts';

const commands = createProgram({}).commands.flatMap((command) => [command, ...command.commands]);

test('the program has its commands, and each has help', () => {
  assert.ok(commands.length > 20);
  for (const command of commands) assert.match(command.helpInformation(), /^Usage: rowgraph /, command.name());
});

test('no two flags of a command are alike', () => {
  for (const command of commands) {
    const flags = command.options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined && flag !== null));
    assert.deepEqual(flags, [...new Set(flags)], command.name());
  }
});

test('--json prints JSON where a command has such a flag, which the settings page says; elsewhere it is the setting', () => {
  const isOwn = ({ options }: (typeof commands)[number]) => options.some(({ long, flags }) => long === '--json' && flags === long);
  const printing = commands.filter((command) => isOwn(command)).map((command) => command.name());
  assert.deepEqual(printing.sort(), ['access', 'advise', 'cost', 'doctor', 'explain', 'status', 'upgrade-check']);
  const serve = commands.find((command) => command.name() === 'serve');
  assert.ok(serve?.options.some(({ flags }) => flags === '--json <string|object>'));
});
