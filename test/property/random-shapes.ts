/** Random shapes of JSON: objects and lists whose members the documents of random rows have, mostly as the shape says. */
import { type ColumnType, type CompositeDescription, isJson, jsonTypeOf, type Shape } from './column-types.ts';
import { randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import type { Directive } from './schema-description.ts';
import { schemaOf, shapeOfComposite } from './shapes.ts';

/** JSON Schema of scalars. */
const scalars: readonly (readonly [schema: Readonly<Record<string, string>>, scalar: string])[] = [
  [{ type: 'string' }, 'String'],
  [{ type: 'string', format: 'email' }, 'String'],
  [{ type: 'string', format: 'date' }, 'Date'],
  [{ type: 'string', format: 'date-time' }, 'Datetime'],
  [{ type: 'string', format: 'uuid' }, 'UUID'],
  [{ type: 'integer' }, 'Int'],
  [{ type: 'integer', format: 'int64' }, 'BigInt'],
  [{ type: 'number' }, 'Float'],
  [{ type: 'number', format: 'decimal' }, 'BigFloat'],
  [{ type: 'boolean' }, 'Boolean'],
  [{}, 'JSON'],
  [{ type: 'object' }, 'JSON'],
  [{ type: 'array' }, 'JSON'],
];

/** What the members of documents mostly are. */
const usual: ReadonlyMap<string, readonly string[]> = new Map([
  ['n', ['Int', 'BigInt', 'Float', 'BigFloat']],
  ['on', ['Boolean']],
  ['day', ['Date']],
  ['at', ['Datetime']],
  ['key', ['UUID']],
]);
const names = [
  'a',
  'a',
  'a',
  'b',
  'c',
  'd',
  'n',
  'n',
  'on',
  'day',
  'at',
  'key',
  'tags',
  'list',
  'list',
  'no',
  'a b',
  'é',
  'constructor',
  'toString',
];

/** Gives a JSON column a shape, with the directive that declares it. `place` tells shapes apart. */
export function addShape(
  random: RandomSource,
  column: { readonly type: ColumnType; shape: Shape | null; directive: Directive | null },
  place: string,
  composites: readonly CompositeDescription[],
): void {
  if (!isJson(column.type) || random.chance(0.4)) return;
  const composite = composites.length > 0 && random.chance(0.25) ? random.pick(composites) : null;
  const object = composite ? shapeOfComposite(composite, place) : randomObject(random, place, 3);
  column.shape = !composite && random.chance(0.2) ? { kind: 'list', element: object } : object;
  column.directive = { ...column.directive, shape: composite ? composite.name : schemaOf(column.shape) };
}

function randomObject(random: RandomSource, place: string, depth: number): Shape {
  const chosen = [...new Set(random.sample(names, random.integer(1, 5)))];
  const members = chosen.map((name) => ({ name, shape: randomMember(random, name, `${place} ${name}`, depth - 1) }));
  return { kind: 'object', place, title: random.chance(0.15) ? randomName(random, 0.02) : null, members };
}

function randomMember(random: RandomSource, name: string, place: string, depth: number): Shape {
  const isObject = name === 'a' || name === 'list' || name === 'd';
  if (depth > 0 && random.chance(isObject ? 0.7 : 0.1)) {
    const object = randomObject(random, place, depth);
    return random.chance(name === 'list' ? 0.9 : 0.15) ? { kind: 'list', element: object } : object;
  }
  const fitting = scalars.filter(([, scalar]) => usual.get(name)?.includes(scalar));
  const [schema, scalar] = random.pick(fitting.length > 0 && random.chance(0.7) ? fitting : scalars);
  const value: Shape = { kind: 'value', type: jsonTypeOf(scalar), schema };
  if (!random.chance(name === 'tags' || name === 'c' ? 0.8 : 0.1)) return value;
  const list: Shape = { kind: 'list', element: value };
  return random.chance(0.1) ? { kind: 'list', element: list } : list;
}
