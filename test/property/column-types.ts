/**
 * The types that columns of random tables have: how PostgreSQL calls them, as which scalar GraphQL shows them, and values of them.
 */
import { placeTexts, pointTexts } from './places.ts';
import type { RandomSource } from './random-source.ts';

export interface EnumDescription {
  readonly name: string;
  readonly labels: readonly string[];
  readonly directive: Readonly<Record<string, unknown>> | null;
}

export interface DomainDescription {
  readonly name: string;
  readonly base: ColumnType;
  readonly checkSql: string | null;
}

export interface CompositeDescription {
  readonly name: string;
  readonly attributes: readonly AttributeDescription[];
  readonly directive: Readonly<Record<string, unknown>> | null;
}

export interface AttributeDescription {
  readonly name: string;
  readonly type: ColumnType;
  directive: Readonly<Record<string, unknown>> | null;
  shape: Shape | null;
}

/** What a directive says that JSON is; `place` names an object, as no two have one. */
export type Shape =
  | { readonly kind: 'value'; readonly type: ColumnType; readonly schema: Readonly<Record<string, unknown>> }
  | { readonly kind: 'list'; readonly element: Shape }
  | {
      readonly kind: 'object';
      readonly place: string;
      readonly title: string | null;
      readonly members: readonly { readonly name: string; readonly shape: Shape }[];
    };

export interface ColumnType {
  /** As in a column definition, with its modifier; of an enum, qualified by the schema. */
  readonly sql: string;
  /** The GraphQL scalar of a value or, of an array, of an element; `enum` for enums, `domain` for domains, `composite` for composite types. */
  readonly scalar: string;
  readonly isArray: boolean;
  /** Whether PostgreSQL has an order for values, and so `orderBy` may name the column. */
  readonly isOrdered: boolean;
  readonly enum: EnumDescription | null;
  readonly domain: DomainDescription | null;
  readonly composite: CompositeDescription | null;
  /** Whether the composite type is the row type of a table. */
  readonly isRow: boolean;
  /** The longest text. */
  readonly maxLength: number | null;
  /** Of ranges and multiranges, and of arrays of them. */
  readonly range: { readonly subtype: ColumnType; readonly isMulti: boolean } | null;
  /** What has to be installed. */
  readonly extension: string | null;
  /** Values in PostgreSQL's text format. */
  readonly values: readonly string[];
}

const wholeNumbers = ['0', '1', '2', '3', '-1', '7', '12', '42', '100'];
// biome-ignore format: a list
const texts = [
  '', 'a', 'A', 'b', 'ab', 'aaa', 'a b', ' ', 'Zoë', "O'Brien", 'back\\slash', '"quoted"', 'über', 'line\nbreak', '日本', '😀', '%', 'a_c',
  'two cats, running', 'The cat runs <b>fast</b> & far', 'a dog or a cat',
  'null', 'NULL', '{}', '{a,"b"}', 'tab\t', '$1', '\u0001', '\u2028', '0', '-', "'; --",
];
const dates = ['2000-01-01', '1999-12-31', '2024-02-29', '0044-03-15 BC', 'infinity', '-infinity', '1970-01-01'];
const uuids = [
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '11111111-2222-3333-4444-555555555555',
  'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
];

function type(sql: string, scalar: string, values: readonly string[], more: Partial<ColumnType> = {}): ColumnType {
  const none = { enum: null, domain: null, composite: null, isRow: false, maxLength: null, range: null, extension: null };
  return { sql, scalar, isArray: false, isOrdered: true, ...none, values, ...more };
}

function limited(length: number): readonly string[] {
  return texts.filter((text) => [...text].length <= length);
}

export const integerType = type('integer', 'Int', [...wholeNumbers, '2147483647', '-2147483648']);
export const textType = type('text', 'String', texts);
/** Of what PostgreSQL computes of rows. */
export const realType = type('real', 'Float', ['0', '1.5', '-2.25', '0.125', '1e+20']);
export const doubleType = type('double precision', 'Float', ['0', '1.5', '-2.25', '0.125', '1e+100', '-0', '3']);

/** Bounds of random ranges, by their scalar, in order. */
export const orderedBounds: Readonly<Record<string, readonly unknown[]>> = {
  Int: [-5, 0, 1, 2, 3, 5, 10, 42],
  BigInt: ['-1', '0', 2, '3', '9007199254740993'],
  BigFloat: ['-2.25', '0', '1', '1.5', '10', '123456789012345678901234567890.5'],
  Date: ['-infinity', '0044-03-15 BC', '1999-12-31', '2000-01-01', '2024-02-29', 'infinity'],
  Datetime: ['1999-12-31T23:59:59+00:00', '2000-01-01T00:00:00+00:00', '2024-02-29T12:34:56.123456+02:00', 'infinity'],
};

function rangeType(sql: string, subtype: ColumnType, values: readonly string[], isMulti = false): ColumnType {
  return type(sql, 'Opaque', values, { range: { subtype, isMulti } });
}

const bigintType = type('bigint', 'BigInt', [...wholeNumbers, '9007199254740993', '9223372036854775807', '-9223372036854775808']);
const numericType = type('numeric', 'BigFloat', ['0', '1.5', '-2.25', '10.00', '0.001', '123456789012345678901234567890.5', 'NaN']);
const uuidType = type('uuid', 'UUID', uuids);
const booleanType = type('boolean', 'Boolean', ['t', 'f']);
const dateType = type('date', 'Date', dates);
const datetimeType = type('timestamp with time zone', 'Datetime', [
  '2000-01-01 00:00:00+00',
  '2024-02-29 12:34:56.123456+02',
  '1999-12-31 23:59:59+00',
  'infinity',
]);
const intRangeType = rangeType('int4range', integerType, ['[1,5)', '[0,0]', 'empty', '(,3)', '[2,)', '(,)', '[3,10)', '[5,6)']);

/** Types that a key can have, and so a foreign key too. */
export const keyTypes: readonly ColumnType[] = [
  integerType,
  integerType,
  bigintType,
  type('smallint', 'Int', [...wholeNumbers, '32767', '-32768']),
  textType,
  type('character varying(12)', 'String', limited(12), { maxLength: 12 }),
  uuidType,
  numericType,
  dateType,
  datetimeType,
  intRangeType,
  type('interval', 'Opaque', ['01:00:00', '1 day', '-3 mons', '1 year 2 mons', '-00:00:01.5', '00:00:00']),
  type('inet', 'Opaque', ['10.0.0.1', '10.0.0.1/8', '::1', '10.0.0.0/8', '10.1.0.0/16', '0.0.0.0/0']),
];

const scalarTypes: readonly ColumnType[] = [
  ...keyTypes,
  textType,
  type('numeric(8,3)', 'BigFloat', ['0', '1.5', '-2.25', '10.000', '0.001', '12345.678']),
  type('character(5)', 'String', limited(5), { maxLength: 5 }),
  booleanType,
  doubleType,
  realType,
  type('timestamp without time zone', 'Datetime', ['2000-01-01 00:00:00', '2024-02-29 12:34:56.1', '-infinity']),
  type('time without time zone', 'Time', ['00:00:00', '23:59:59.999', '12:00:00', '24:00:00']),
];

/** Documents that share keys. Of `json`, what is inside of others is written as jsonb would. */
export const documents = [
  ...['{}', '[]', 'null', '"text"', '1.50', 'true', '{"a": [1, "ü\\"", null]}', '["a", "b", 1, [2], {"a": 1}, 1]'],
  '{"a": {"b": 1, "c": [true, {"d": "x"}]}, "n": 3, "at": "2024-01-01T10:00:00Z"}',
  '{"a": {"b": 2.0}, "n": "3", "on": true, "day": "2024-02-29", "at": "2024-01-01 09:30:00.5-01:00"}',
  '{"a": {"b": null}, "n": 3.0, "on": false, "day": "2023-02-29", "at": "2024-01-01"}',
  '{"n": 2147483648, "key": "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "list": [{"d": "x", "n": 1}, null, 5, {"d": {"n": 2}}], "tags": ["x", 2, null, "1999-12-31"]}',
  '{"a": {"b": 5, "c": []}, "n": 7, "at": "2024-06-01T00:00+02:00", "key": "none", "list": [], "tags": ["b"]}',
  '[{"d": "y", "n": 2}, {"n": null}, [1]]',
  '{"a": "b", "n": -1.5, "on": "true", "day": "1999-12-31", "at": "24:00"}',
  '{"": 0, "a b": [], "a.b": {"\\"": 1}, "{x}": "\'", "NULL": null, "é": {}, "constructor": 1, "__proto__": 2}',
];
export const jsonbType = type('jsonb', 'JSON', documents, { isOrdered: false });
const jsonTypes = [
  jsonbType,
  type('json', 'JSON', ['{ }', ' [1,2]', '{"n":3,  "a":{"b": 1}, "":null}', ...documents], { isOrdered: false }),
];

/** What the value at a path of a document is compared as. */
export const jsonValueTypes = {
  TEXT: textType,
  NUMBER: type('numeric', 'BigFloat', []),
  BOOLEAN: type('boolean', 'Boolean', []),
  DATE: type('date', 'Date', []),
  DATETIME: type('timestamp with time zone', 'Datetime', []),
};

/** As which type a value in a document is read that GraphQL shows as a scalar. */
export function jsonTypeOf(scalar: string): ColumnType {
  if (scalar === 'JSON') return jsonbType;
  return (
    [integerType, bigintType, doubleType, numericType, booleanType, dateType, datetimeType, uuidType].find(
      (each) => each.scalar === scalar,
    ) ?? textType
  );
}

const arrayElements: readonly ColumnType[] = scalarTypes.filter(({ sql }) => !sql.startsWith('character'));

const vectors = ['[0,0]', '[1,0]', '[0,1]', '[3,4]', '[-1,0.5]', '[6,8]'];
export const tsvectorType = type('tsvector', 'Opaque', [
  "'cat':1A 'fast':3",
  "'run':2 'dog':1B,4",
  '',
  "'two':1 'cat':2 'run':3",
  "'the':1 'far':2C",
]);

const otherTypes: readonly ColumnType[] = [
  type('bytea', 'Opaque', ['\\x', '\\x00ff', '\\x0a']),
  type('cidr', 'Opaque', ['10.0.0.0/8', '10.1.0.0/16', '::/0', '10.0.0.1/32']),
  type('public.ltree', 'Opaque', ['', 'a', 'a.b', 'a.B', 'a.b.c', 'b', 'a.ab', 'a1', 'a_1.c'], { extension: 'ltree' }),
  tsvectorType,
  tsvectorType,
  type('bit(4)', 'Opaque', ['0000', '0110', '1111', '1000']),
  type('point', 'Opaque', ['(0,0)', '(1,0)', '(3,4)', '(-1,0.5)'], { isOrdered: false }),
  type('public.vector(2)', 'Opaque', vectors, { extension: 'vector' }),
  type('public.halfvec(2)', 'Opaque', vectors, { extension: 'vector' }),
  type('public.sparsevec(2)', 'Opaque', ['{}/2', '{1:1}/2', '{1:3,2:4}/2', '{2:-0.5}/2'], { extension: 'vector' }),
  type('public.geometry(Point,4326)', 'GeoJSON', pointTexts, { extension: 'postgis' }),
  type('public.geometry(Geometry,4326)', 'GeoJSON', placeTexts, { extension: 'postgis' }),
  rangeType('int8range', bigintType, ['[0,3)', '(,9007199254740993]', 'empty', '[9007199254740993,)']),
  rangeType('numrange', numericType, ['[0,1.5)', '(1.5,10]', '[-2.25,1]', 'empty', '(,0)', '(,)', '[1.5,1.5]']),
  rangeType('daterange', dateType, [
    '[2000-01-01,2024-02-29)',
    '[-infinity,1999-12-31)',
    '[2024-02-29,infinity]',
    'empty',
    '(,2000-01-01)',
  ]),
  rangeType('tstzrange', datetimeType, [
    '["2000-01-01 00:00:00+00","2024-02-29 12:34:56.123456+02")',
    '(,"1999-12-31 23:59:59+00"]',
    '["2024-02-29 12:34:56.123456+02",infinity)',
    'empty',
  ]),
  rangeType('int4multirange', integerType, ['{}', '{[1,3),[5,10)}', '{(,0)}', '{[2,2],[42,)}', '{(,)}'], true),
  rangeType('datemultirange', dateType, ['{}', '{[1999-12-31,2000-01-01),[2024-02-29,)}', '{(,2000-01-01)}'], true),
  rangeType('nummultirange', numericType, ['{}', '{[-2.25,0],(1,1.5)}', '{[10,)}'], true),
];

/** The types that a database has. */
export function availableTypes(extensions: ReadonlySet<string>): readonly ColumnType[] {
  return otherTypes.filter(({ extension }) => extension === null || extensions.has(extension));
}

/** An array of a type. */
export function arrayOf(random: RandomSource, element: ColumnType): ColumnType {
  const values = [
    '{}',
    ...Array.from({ length: 4 }, () =>
      arrayText(Array.from({ length: random.integer(1, 3) }, () => (random.chance(0.1) ? null : random.pick(element.values)))),
    ),
  ];
  return { ...element, sql: `${element.sql}[]`, isArray: true, isOrdered: false, maxLength: null, values };
}

/** An array in PostgreSQL's text format. */
export function arrayText(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : `"${item.replaceAll(/["\\]/g, '\\$&')}"`)).join(',')}}`;
}

/** A value of a composite type in PostgreSQL's text format. */
export function rowText(attributes: readonly (string | null)[]): string {
  return `(${attributes.map((item) => (item === null ? '' : `"${item.replaceAll(/["\\]/g, '\\$&')}"`)).join(',')})`;
}

/** The type of an enum. */
export function enumType(sql: string, description: EnumDescription): ColumnType {
  return type(sql, 'enum', description.labels, { enum: description });
}

export function ofDomain(sql: string, domain: DomainDescription): ColumnType {
  const { base, checkSql } = domain;
  const valid =
    base.scalar === 'JSON'
      ? base.values.filter((text) => !text.startsWith('"'))
      : ['7', '12', 'a', 'ab'].filter((text) => base.values.includes(text));
  const values = checkSql === null ? base.values : valid;
  return { ...base, sql, scalar: base.composite ? base.scalar : 'domain', isOrdered: true, values, domain };
}

/** The type that a domain of plain values is based on; any other is its own. */
export function baseOf(type: ColumnType): ColumnType {
  return type.domain && !type.composite && !type.isArray ? type.domain.base : type;
}

/** Whether values are documents: of json or jsonb, or of domains over them. */
export function isJson(type: ColumnType): boolean {
  return !type.isArray && baseOf(type).scalar === 'JSON';
}

/** The type of a composite, with some values, of which one has nothing but nulls. */
export function compositeType(random: RandomSource, sql: string, composite: CompositeDescription): ColumnType {
  const value = () => rowText(composite.attributes.map((each) => (random.chance(0.2) ? null : random.pick(each.type.values))));
  const values = [rowText(composite.attributes.map(() => null)), ...Array.from({ length: 5 }, value)];
  return type(sql, 'composite', values, { composite, isOrdered: false });
}

/** The row type of a table, with values that may be null where its columns are not, and one that has nothing but nulls. */
export function rowType(random: RandomSource, sql: string, { name, columns }: RowDescription): ColumnType {
  const value = () => rowText(columns.map(({ type }) => (random.chance(0.2) ? null : random.pick(type.values))));
  const values = [rowText(columns.map(() => null)), ...Array.from({ length: 5 }, value)];
  return type(sql, 'composite', values, { composite: { name, attributes: columns, directive: null }, isRow: true });
}

interface RowDescription {
  readonly name: string;
  readonly columns: readonly (AttributeDescription & { readonly notNull: boolean })[];
}

/** The type of a member of a composite type, or of an argument or result of a function. */
export function randomAttributeType(random: RandomSource, declared: readonly ColumnType[]): ColumnType {
  const kind = random.integer(0, 9);
  // There, ranges have bounds beside them, or none.
  const plain = arrayElements.filter(({ range }) => range === null);
  if (kind < 5 || (kind < 8 && declared.length === 0)) return random.pick(plain);
  return kind < 8 ? random.pick(declared) : arrayOf(random, random.pick([...plain, ...declared.filter(({ isArray }) => !isArray)]));
}

/** The type of a column that is not a key. `others`: types of which a column is sometimes. */
export function randomColumnType(random: RandomSource, declared: readonly ColumnType[], others: readonly ColumnType[]): ColumnType {
  const kind = random.integer(0, 19);
  if (kind < 12 || (kind < 15 && declared.length === 0)) return random.pick(scalarTypes);
  if (kind < 15) return random.pick(declared);
  if (kind < 17) return arrayOf(random, random.pick([...arrayElements, jsonbType, jsonbType, ...declared]));
  return random.pick(kind < 19 ? jsonTypes : others);
}
