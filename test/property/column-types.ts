/**
 * The types that columns of random tables have: how PostgreSQL calls them, as which scalar GraphQL shows them, and values of them.
 */
import type { RandomSource } from './random-source.ts';

export interface EnumDescription {
  readonly name: string;
  readonly labels: readonly string[];
  readonly directive: Readonly<Record<string, unknown>> | null;
}

export interface ColumnType {
  /** As in a column definition, with its modifier; of an enum, qualified by the schema. */
  readonly sql: string;
  /** The GraphQL scalar of a value or, of an array, of an element; `enum` for enums. */
  readonly scalar: string;
  readonly isArray: boolean;
  /** Whether PostgreSQL has an order for values, and so `orderBy` may name the column. */
  readonly isOrdered: boolean;
  readonly enum: EnumDescription | null;
  /** The longest text. */
  readonly maxLength: number | null;
  /** Values in PostgreSQL's text format. */
  readonly values: readonly string[];
}

const wholeNumbers = ['0', '1', '2', '3', '-1', '7', '12', '42', '100'];
// biome-ignore format: a list
const texts = [
  '', 'a', 'A', 'b', 'ab', 'aaa', 'a b', ' ', 'Zoë', "O'Brien", 'back\\slash', '"quoted"', 'über', 'line\nbreak', '日本', '😀', '%', 'a_c',
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
  return { sql, scalar, isArray: false, isOrdered: true, enum: null, maxLength: null, values, ...more };
}

function limited(length: number): readonly string[] {
  return texts.filter((text) => [...text].length <= length);
}

export const integerType = type('integer', 'Int', [...wholeNumbers, '2147483647', '-2147483648']);
export const textType = type('text', 'String', texts);

/** Types that a key can have, and so a foreign key too. */
export const keyTypes: readonly ColumnType[] = [
  integerType,
  integerType,
  type('bigint', 'BigInt', [...wholeNumbers, '9007199254740993', '9223372036854775807', '-9223372036854775808']),
  type('smallint', 'Int', [...wholeNumbers, '32767', '-32768']),
  textType,
  type('character varying(12)', 'String', limited(12), { maxLength: 12 }),
  type('uuid', 'UUID', uuids),
  type('numeric', 'BigFloat', ['0', '1.5', '-2.25', '10.00', '0.001', '123456789012345678901234567890.5', 'NaN']),
  type('date', 'Date', dates),
  type('timestamp with time zone', 'Datetime', [
    '2000-01-01 00:00:00+00',
    '2024-02-29 12:34:56.123456+02',
    '1999-12-31 23:59:59+00',
    'infinity',
  ]),
];

const scalarTypes: readonly ColumnType[] = [
  ...keyTypes,
  textType,
  type('numeric(8,3)', 'BigFloat', ['0', '1.5', '-2.25', '10.000', '0.001', '12345.678']),
  type('character(5)', 'String', limited(5), { maxLength: 5 }),
  type('boolean', 'Boolean', ['t', 'f']),
  type('double precision', 'Float', ['0', '1.5', '-2.25', '0.125', '1e+100', '-0', '3']),
  type('real', 'Float', ['0', '1.5', '-2.25', '0.125', '1e+20']),
  type('timestamp without time zone', 'Datetime', ['2000-01-01 00:00:00', '2024-02-29 12:34:56.1', '-infinity']),
  type('time without time zone', 'Time', ['00:00:00', '23:59:59.999', '12:00:00', '24:00:00']),
];

const arrayElements: readonly ColumnType[] = scalarTypes.filter(({ sql }) => !sql.startsWith('character'));

const otherTypes: readonly ColumnType[] = [
  type('jsonb', 'JSON', ['{}', '[]', 'null', '"text"', '{"a": [1, "ü\\"", null]}', '1.50', 'true'], { isOrdered: false }),
  type('json', 'JSON', ['{ }', '[1,2]', 'null', '"x"'], { isOrdered: false }),
  type('bytea', 'Opaque', ['\\x', '\\x00ff', '\\x0a']),
  type('inet', 'Opaque', ['10.0.0.1', '::1', '10.0.0.0/8']),
  type('interval', 'Opaque', ['01:00:00', '1 day', '-3 mons']),
];

/** An array of a type. */
function arrayOf(random: RandomSource, element: ColumnType): ColumnType {
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

/** The type of an enum. */
export function enumType(schema: string, description: EnumDescription): ColumnType {
  const sql = [schema, description.name].map((name) => `"${name.replaceAll('"', '""')}"`).join('.');
  return type(sql, 'enum', description.labels, { enum: description });
}

/** The type of a column that is not a key. */
export function randomColumnType(random: RandomSource, enums: readonly ColumnType[]): ColumnType {
  const kind = random.integer(0, 19);
  if (kind < 13 || (kind < 16 && enums.length === 0)) return random.pick(scalarTypes);
  if (kind < 16) return random.pick(enums);
  if (kind < 18) return arrayOf(random, random.pick([...arrayElements, ...enums]));
  return random.pick(otherTypes);
}
