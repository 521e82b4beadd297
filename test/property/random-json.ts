/** Random operands of JSON columns: parts of documents, paths to them, and tests by the SQL/JSON path language. */
import { documents, jsonValueTypes } from './column-types.ts';
import { isArray, isObject, type Json, jsonText, parseJson } from './json-documents.ts';
import type { RandomSource } from './random-source.ts';

/** The keys and positions to something that a document has, or nearly so. */
export function randomPath(random: RandomSource, least = 1): string[] {
  const path: string[] = [];
  let at: Json = parseJson(random.pick(documents));
  while (isObject(at) || isArray(at)) {
    const isEnd = path.length >= least && random.chance(0.3);
    const steps: [string, Json][] = isObject(at) ? [...at] : at.flatMap((item, index) => [[String(index), item]]);
    if (isEnd || steps.length === 0) break;
    const count = steps.length;
    const [key, inner] = random.pick(steps);
    path.push(isArray(at) && random.chance(0.3) ? String(Number(key) - count) : key);
    at = inner;
  }
  while (path.length < least || random.chance(0.05)) path.push(random.pick(['a', 'b', 'n', '0', '-1', '9', 'on', 'at', 'day', 'no']));
  return path;
}

/** A path with what its value counts as. */
export function randomValueKey(random: RandomSource): Record<string, unknown> {
  const as = random.pick(Object.keys(jsonValueTypes));
  const ofType: Readonly<Record<string, readonly string[]>> = { NUMBER: ['n'], BOOLEAN: ['on'], DATE: ['day'], DATETIME: ['at'] };
  const path = random.chance(0.6) ? (ofType[as] ?? randomPath(random)) : randomPath(random);
  return { path, ...((as !== 'TEXT' || random.chance(0.5)) && { as }) };
}

/** An operand of a filter. `examples` are documents of the column. */
export function randomJsonOperand(random: RandomSource, operator: string, examples: readonly string[]): unknown {
  const key = () => randomPath(random)[0]!;
  if (operator === 'hasKey') return key();
  if (operator.startsWith('has')) return Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, key);
  if (operator === 'matches') return randomMatches(random);
  const text = random.pick(random.chance(0.7) && examples.length > 0 ? examples : documents);
  if (operator === 'containedBy') return random.chance(0.5) ? jsonText([parseJson(text), 'a', 'b']) : text;
  return operator === 'contains' ? jsonText(randomPart(random, parseJson(text))) : text;
}

/** A document with less in it, or with its elements in another order. */
function randomPart(random: RandomSource, json: Json): Json {
  if (isArray(json)) return random.shuffled(random.subset(json, 0.5)).map((item) => randomPart(random, item));
  if (!isObject(json)) return json;
  return new Map(random.subset([...json], 0.5).map(([key, item]) => [key, randomPart(random, item)]));
}

function randomMatches(random: RandomSource): Record<string, unknown> {
  const steps = randomPath(random, 0).map((key) =>
    /^\d+$/.test(key) ? `[${key}]` : key === '-1' ? random.pick(['[last]', '[*]', '.*']) : `.${JSON.stringify(key)}`,
  );
  const path = `${random.pick(['', '', 'lax ', 'strict '])}$${steps.join('')}`;
  const test = random.pick(['', '', ' ? (@ > 1)', ' ? (@ == "x" || @ == null)', '.**', ' ? (@.b == 1)', ' ? (@ starts with "b")', ' > 1']);
  if (random.chance(0.6)) return { path: `${path}${test}` };
  return { path: `${path} ? (@ >= $least)`, vars: random.pick(['{"least": 1}', '{"least": "b", "more": 0}', '{"least": null}']) };
}

/** A change of parts. */
export function randomChange(random: RandomSource): Record<string, unknown> {
  // Positions are keys of objects too.
  const path = () =>
    random.chance(0.5)
      ? randomPath(random)
      : [random.pick(['0', '1', '-1', '7', '-9']), ...random.sample(['a', '0', 'é'], random.pick([0, 0, 1]))];
  const list = <Item>(make: () => Item) => Array.from({ length: random.pick([1, 1, 2]) }, make);
  const setPath = list(() => ({ path: path(), ...(random.chance(0.9) && { value: random.chance(0.1) ? null : random.pick(documents) }) }));
  const parts = { merge: random.pick(documents), removePath: list(path), setPath };
  return Object.fromEntries(random.sample(Object.entries(parts), random.pick([1, 1, 2, 3])));
}
