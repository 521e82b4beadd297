/**
 * Groups of rows, put together and sorted in JavaScript. PostgreSQL says for one value which unit of time or range of numbers it is in, and in which
 * order such values come.
 */

import type { Relation } from '../../src/model/model.ts';
import { baseOf, type ColumnType, isJson, jsonValueTypes } from './column-types.ts';
import { showJson } from './evaluate-composites.ts';
import { passes } from './evaluate-having.ts';
import { type JsonValueKey, valueAt } from './evaluate-json.ts';
import { type LoadedRow, type LoadedTable, partOfColumn, rowsOf, tableByType, valueOfPart } from './loaded-tables.ts';
import { columnNamed, memberOf, namesOf } from './loaded-values.ts';
import { RefusalError } from './property-failure.ts';
import { areTied } from './tied-rows.ts';
import type { ValueOracle } from './value-oracle.ts';

type Input = Readonly<Record<string, unknown>>;

/** A group: the JSON of its keys by their paths, such as `author.name` and `details ["size"]`, and its rows. */
export interface Group {
  readonly keys: ReadonlyMap<string, unknown>;
  readonly rows: readonly LoadedRow[];
}

/** What rows are grouped by, for each of them: where it stands in the order, and its JSON. */
interface Key {
  readonly path: string;
  readonly ranks: readonly (number | null)[];
  readonly json: readonly unknown[];
}

/** The groups of rows of a table, by the arguments of the field. */
export async function evaluateGroups(
  table: LoadedTable,
  rows: readonly LoadedRow[],
  args: Input,
  oracle: ValueOracle,
): Promise<readonly Group[]> {
  if ([args.first, args.offset].some((count) => ((count ?? 0) as number) < 0)) throw new RefusalError('a negative count');
  const keys: Key[] = [];
  for (const element of listOf(args.by)) keys.push(await evaluateKey(table, rows, element as Input, args, oracle));
  if (new Set(keys.map(({ path }) => path)).size !== keys.length) throw new RefusalError('a column twice');
  checkOrder(listOf(args.orderBy) as Input[], keys);
  const groups = new Map<string, number[]>();
  for (const index of rows.keys()) {
    const name = JSON.stringify(keys.map(({ ranks }) => ranks[index]));
    groups.set(name, [...(groups.get(name) ?? []), index]);
  }
  const wanted = [...groups.values()].filter((members) => passes(args.having, members.length));
  const sorted = wanted.sort((a, b) => compare(a, b, keys, listOf(args.orderBy) as Input[]));
  const start = (args.offset ?? 0) as number;
  const size = Math.min((args.first ?? table.maxRows) as number, table.maxRows);
  return sorted.slice(start, start + size).map((members) => ({
    keys: new Map(keys.map(({ path, json }) => [path, json[members[0]!]])),
    rows: members.map((index) => rows[index]!),
  }));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
}

async function evaluateKey(
  table: LoadedTable,
  rows: readonly LoadedRow[],
  element: Input,
  { timeZone }: Input,
  oracle: ValueOracle,
): Promise<Key> {
  let at = table;
  let found: readonly (LoadedRow | undefined)[] = rows;
  const names: string[] = [];
  let [name, by] = onlyMember(element);
  for (;;) {
    const relation = at.names.relations.find(({ fieldName, kind }) => fieldName === name && kind === 'to-one');
    if (!relation || typeof by !== 'object') break;
    const target = tableByType(at.world, relation.target.typeName);
    found = found.map((row) => row && rowsOf(target).find((other) => areTied(relation as Relation, row, other)));
    at = target;
    names.push(name);
    [name, by] = onlyMember(by as Input);
  }
  const partNamed = (field: string) => {
    const columns = at.names.columns.filter(({ selectable }) => selectable);
    const column = columnNamed(columns, 'rowFieldName', field);
    return column && partOfColumn(at, column);
  };
  const named = partNamed(name);
  let isRange = typeof by === 'object' && !named?.type.composite && !(named && isJson(named.type));
  if (isRange) [name, by] = onlyMember(by as Input);
  const column = partNamed(name)!;
  let { type } = column;
  let values = found.map((row) => row && valueOfPart(row, column));
  while (type.composite && typeof by === 'object') {
    names.push(name);
    [name, by] = onlyMember(by as Input);
    isRange ||= typeof by === 'object' && !columnNamed(namesOf(at.world, type).names, 'rowFieldName', name);
    if (isRange) [name, by] = onlyMember(by as Input);
    const member = memberOf(at.world, namesOf(at.world, type), 'rowFieldName', name);
    values = values.map((value) => member.in(value?.members));
    ({ type } = member);
  }
  const declared = type;
  type = baseOf(type);
  const path = [...names, name].join('.');
  const texts = values.map((value) => value?.text ?? null);
  if (typeof by === 'object') {
    const key = by as JsonValueKey;
    return evaluateJsonKey(`${path} ${JSON.stringify(key.path)}`, texts, key, oracle);
  }
  if (by === 'VALUE' && isJson(declared))
    return { path, ranks: await oracle.ranks(texts, type), json: texts.map((text) => showJson(at.world, declared, text)) };
  if (by === 'VALUE')
    return { path, ranks: await oracle.ranks(texts, type), json: values.map((value) => withoutZeros(value?.json ?? null, type)) };
  const expression = isRange ? rangeOf(type, String(by)) : truncated(type, String(by), timeZone);
  const ranks = (await oracle.list(texts, `case when value is not null then dense_rank() over (order by ${expression}) end`)) as number[];
  return { path, ranks, json: await oracle.list(texts, jsonOf(expression, type)) };
}

/** The values at a path of documents, shown as JSON text. */
async function evaluateJsonKey(path: string, documents: readonly (string | null)[], key: JsonValueKey, oracle: ValueOracle): Promise<Key> {
  const texts = documents.map((text) => valueAt(text, key));
  const type = jsonValueTypes[key.as ?? 'TEXT'];
  const shown = key.as === 'NUMBER' ? 'trim_scale(value::numeric)' : `value::${type.sql}`;
  return { path, ranks: await oracle.ranks(texts, type), json: await oracle.list(texts, `to_jsonb(${shown})::text`) };
}

function onlyMember(value: Input): [name: string, value: unknown] {
  const members = Object.entries(value).filter(([, member]) => member !== null);
  if (members.length !== 1) throw new RefusalError('an element has one key');
  return members[0]!;
}

/** Numbers that are equal are one group, whatever zeros they are written with. */
function withoutZeros(json: unknown, { sql }: ColumnType): unknown {
  return sql === 'numeric' && typeof json === 'string' && json.includes('.') ? json.replace(/\.?0+$/, '') : json;
}

function truncated({ sql }: ColumnType, unit: string, timeZone: unknown): string {
  if (sql === 'date') return `date_trunc('${unit}', value::date::timestamp)::date`;
  const zone = typeof timeZone === 'string' ? `'${timeZone}'` : `current_setting('TimeZone')`;
  if (sql === 'timestamp without time zone') return `date_trunc('${unit}', value::timestamp)`;
  // The same on the clock of the zone, which shows some times twice: hours are not longer for it.
  if (['SECOND', 'MINUTE', 'HOUR'].includes(unit)) return `date_trunc('${unit}', value::timestamptz, ${zone})`;
  return `(date_trunc('${unit}', value::timestamptz at time zone ${zone}) at time zone ${zone})`;
}

const least: Readonly<Record<string, string>> = { smallint: '-32768', integer: '-2147483648', bigint: '-9223372036854775808' };

function rangeOf({ sql }: ColumnType, width: string): string {
  if (!(Number(width) > 0)) throw new RefusalError('a width is more than 0');
  const number = `value::${sql}::numeric`;
  const whole = `div(${number}, ${width})`;
  const start = `(${whole} - case when ${number} < ${whole} * ${width} then 1 else 0 end) * ${width}`;
  return least[sql] ? `case when value is not null then greatest(${start}, ${least[sql]}) end` : start;
}

function jsonOf(expression: string, { scalar, sql }: ColumnType): string {
  if (scalar === 'BigInt') return `pg_catalog.to_json((${expression})::text)`;
  if (scalar === 'BigFloat') return `pg_catalog.to_json(trim_scale(${expression})::text)`;
  return scalar === 'Float' ? `pg_catalog.to_json((${expression})::${sql})` : `pg_catalog.to_json(${expression})`;
}

/** Groups are ordered by their keys alone. */
function checkOrder(orderBy: readonly Input[], keys: readonly Key[]): void {
  for (const element of orderBy) {
    if (isEmpty(element)) continue;
    const [name, value] = onlyMember(element);
    if (name !== 'key') continue;
    if (!orderedKey(keys, value as Input).key) throw new RefusalError('no key of the groups');
  }
}

function compare(a: readonly number[], b: readonly number[], keys: readonly Key[], orderBy: readonly Input[]): number {
  for (const element of orderBy) {
    if (isEmpty(element)) continue;
    const [member, value] = onlyMember(element);
    if (member === 'count') {
      if (a.length !== b.length) return String(value).startsWith('Desc') ? b.length - a.length : a.length - b.length;
      continue;
    }
    const { key, direction } = orderedKey(keys, value as Input);
    const difference = compareKeys(key!, a, b, direction);
    if (difference !== 0) return difference;
  }
  for (const key of keys) {
    const difference = compareKeys(key, a, b, 'AscNullsLast');
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether an element of an order holds nothing but nulls, at any depth: then it is none. */
function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value as Input).every(isEmpty));
}

function orderedKey(keys: readonly Key[], value: Input): { readonly key: Key | undefined; readonly direction: string } {
  const [name, path, direction] = orderOfKey(value);
  const paths = keys.map((key) => key.path);
  return { key: keys[paths.indexOf(groupKey(paths, name, path) ?? '')], direction };
}

function orderOfKey(value: Input): [name: string, path: unknown, direction: string] {
  const [name, inner] = onlyMember(value);
  if (typeof inner === 'string') return [name, null, inner];
  const { path: ofJson, direction: ofPath } = inner as Input;
  if (typeof ofPath === 'string') return [name, ofJson, ofPath];
  const [last, path, direction] = orderOfKey(inner as Input);
  return [`${name}.${last}`, path, direction];
}

/** The key of a column, or of a path of a JSON column, which need not be named if there is no other. */
export function groupKey(keys: readonly string[], name: string, path: unknown = null): string | undefined {
  if (path !== null) return `${name} ${JSON.stringify(path)}`;
  const found = keys.filter((key) => key === name || key.startsWith(`${name} `));
  if (found.length > 1) throw new RefusalError('several paths');
  return found[0];
}

function compareKeys({ ranks }: Key, a: readonly number[], b: readonly number[], direction: string): number {
  const [one, other] = [ranks[a[0]!] ?? null, ranks[b[0]!] ?? null];
  if (one === null || other === null) return one === other ? 0 : (one === null) === direction.endsWith('First') ? -1 : 1;
  return direction.startsWith('Desc') ? other - one : one - other;
}
