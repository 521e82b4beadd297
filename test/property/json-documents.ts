/** Documents of json and jsonb in memory: what is in them, what they contain and how changes leave them, as PostgreSQL's manual says of its operators. */
import { plainNumber } from './tied-rows.ts';

/** A number keeps its text: `1.50` is not written as `1.5`. */
class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Json = null | boolean | string | JsonNumber | readonly Json[] | ReadonlyMap<string, Json>;

export function parseJson(text: string): Json {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source: string }) => {
    if (typeof value === 'number') return new JsonNumber(context!.source);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? new Map(Object.entries(value)) : value;
  }) as Json;
}

/** The text that jsonb has: shorter keys first. */
export function jsonText(json: Json): string {
  if (json instanceof JsonNumber) return json.text;
  if (isArray(json)) return `[${json.map(jsonText).join(', ')}]`;
  if (!isObject(json)) return JSON.stringify(json);
  const keys = [...json.keys()].sort(
    (a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${jsonText(json.get(key)!)}`).join(', ')}}`;
}

export function isArray(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

export function isObject(json: Json): json is ReadonlyMap<string, Json> {
  return json instanceof Map;
}

export function isNumber(json: Json | undefined): json is JsonNumber {
  return json instanceof JsonNumber;
}

/** What is at a path (`#>`); undefined if there is nothing. */
export function partAt(json: Json, path: readonly string[]): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return json;
  const inner = isObject(json) ? json.get(key) : isArray(json) ? json[positionIn(json, key)] : undefined;
  return inner === undefined ? undefined : partAt(inner, rest);
}

/** Of a position that counts from the end too; none if the key is no number. */
function positionIn(json: readonly Json[], key: string): number {
  if (!/^-?\d+$/.test(key)) return Number.NaN;
  return Number(key) < 0 ? json.length + Number(key) : Number(key);
}

/** Whether two documents are the same value (`=`). */
export function areEqual(left: Json, right: Json): boolean {
  if (isNumber(left) && isNumber(right)) return plainNumber(left.text) === plainNumber(right.text);
  if (isArray(left) && isArray(right)) return left.length === right.length && left.every((item, index) => areEqual(item, right[index]!));
  if (isObject(left) && isObject(right))
    return left.size === right.size && [...left].every(([key, item]) => right.has(key) && areEqual(item, right.get(key)!));
  return left === right;
}

/** `@>`: the document has the other's members and elements at any depth; an array also has a value that is none itself, but only at the top. */
export function contains(json: Json, other: Json): boolean {
  if (isArray(json) && !isArray(other) && !isObject(other)) return json.some((item) => areEqual(item, other));
  return holds(json, other);
}

function holds(json: Json, other: Json): boolean {
  if (isArray(json) && isArray(other)) return other.every((wanted) => json.some((item) => holds(item, wanted)));
  if (isObject(json) && isObject(other)) return [...other].every(([key, wanted]) => json.has(key) && holds(json.get(key)!, wanted));
  return areEqual(json, other);
}

/** `?`: a key of an object, or a text in an array or alone. */
export function hasKey(json: Json, key: string): boolean {
  if (isObject(json)) return json.has(key);
  return isArray(json) ? json.includes(key) : json === key;
}

/** What a change of a part leaves of a document; null where PostgreSQL fails, as an array has no such key. */
export function changedDocument(json: Json, { merge = null, removePath, setPath }: JsonChange): Json | undefined {
  try {
    const merged = merge === null ? json : mergedInto(json, parseJson(merge));
    // From what is empty there is nothing to remove, whatever the path.
    const removed = (removePath ?? []).reduce((from, path) => (isEmpty(from) ? from : without(from, path)), merged);
    return (setPath ?? []).reduce(
      (into, { path, value = null }) => withValueAt(into, path, value === null ? null : parseJson(value)),
      removed,
    );
  } catch (error) {
    if (error instanceof NoPositionError) return undefined;
    throw error;
  }
}

/** The input of a change; of its members, null is as good as absent. */
export interface JsonChange {
  readonly merge?: string | null;
  readonly removePath?: readonly (readonly string[])[] | null;
  readonly setPath?: readonly { readonly path: readonly string[]; readonly value?: string | null }[] | null;
}

/** A key where an array has positions. */
class NoPositionError extends Error {}

function isEmpty(json: Json): boolean {
  return isArray(json) ? json.length === 0 : isObject(json) && json.size === 0;
}

function isContainer(json: Json | undefined): json is readonly Json[] | ReadonlyMap<string, Json> {
  return json !== undefined && (isArray(json) || isObject(json));
}

/** `||`, of objects and arrays; what is neither is replaced. */
function mergedInto(json: Json, other: Json): Json {
  if (!isContainer(json)) return other;
  if (isObject(json) && isObject(other)) return new Map([...json, ...other]);
  return [json, other].flatMap((each) => (isArray(each) ? each : [each]));
}

/** `#-`. */
function without(json: Json, [key, ...rest]: readonly string[]): Json {
  if (!isContainer(json) || key === undefined) return json;
  const inner = isObject(json) ? json.get(key) : json[requiredPosition(json, key)];
  if (inner === undefined) return json;
  if (isObject(json))
    return rest.length > 0 ? new Map([...json, [key, without(inner, rest)]]) : new Map([...json].filter(([each]) => each !== key));
  const position = positionIn(json, key);
  return json.flatMap((item, index) => (index !== position ? [item] : rest.length > 0 ? [without(inner, rest)] : []));
}

/** `jsonb_set`, with an object for whatever on the way is none. */
function withValueAt(json: Json | undefined, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value;
  if (json === undefined || !isArray(json)) {
    const object = json !== undefined && isObject(json) ? json : new Map<string, Json>();
    return new Map([...object, [key, withValueAt(object.get(key), rest, value)]]);
  }
  const position = requiredPosition(json, key);
  const set = withValueAt(json[position], rest, value);
  if (position < 0) return [set, ...json];
  return position >= json.length ? [...json, set] : json.with(position, set);
}

function requiredPosition(json: readonly Json[], key: string): number {
  const position = positionIn(json, key);
  if (Number.isNaN(position)) throw new NoPositionError();
  return position;
}
