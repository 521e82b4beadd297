/** Values as PostgreSQL shows them in the forms that answers, identifiers and comparisons take, those of composite types member by member. */
import type { Column, Table } from '../../src/model/model.ts';
import { type ColumnType, isJson, type Shape } from './column-types.ts';
import { parseJson } from './json-documents.ts';
import { shownPlace } from './places.ts';
import { quoteIdentifier } from './schema-sql.ts';
import { shapedValue, shapeType } from './shapes.ts';

/** The names of what a schema declares. */
export interface NamedTypes {
  /** The enums that have a type, by their names in PostgreSQL. The values of others are Opaque. */
  readonly enums: ReadonlySet<string>;
  /** The composite types by their names in PostgreSQL, for names only. */
  readonly composites: ReadonlyMap<string, Table>;
  /** Whether values of domains over rows are objects. */
  readonly hasRowDomains: boolean;
}

/** A value in the two forms that answers and identifiers are made of, and as text for comparisons. */
export interface LoadedValue {
  readonly text: string | null;
  /** As a response shows it; null of composites, which are shown member by member. */
  readonly json: unknown;
  /** JSON text as jsonb writes it. */
  readonly jsonb: string;
  /** Of a value of a composite type, those of its attributes. */
  readonly members?: ReadonlyMap<string, LoadedValue>;
  /** Of an array of these, its elements. */
  readonly items?: readonly LoadedValue[];
  /** Of JSON with a shape, what it is by that. */
  readonly shaped?: LoadedValue;
}

export interface TypedName {
  readonly name: string;
  readonly type: ColumnType;
  readonly shape?: Shape | null;
}

/** `json` of a composite is the list of its attributes', of an array of these that of its elements'; `whole` is what PostgreSQL makes of it. */
export type RawValue = readonly [text: string | null, json: unknown, jsonb: string | null, whole?: unknown];

/** Whether values of the type, or its elements, are objects: rows, and composite types that have a field and are not switched off. */
export function isObject({ composites, hasRowDomains }: NamedTypes, { composite, isRow, domain }: ColumnType): boolean {
  return composite !== null && composites.has(composite.name) && (!isRow || !domain || hasRowDomains);
}

/** The row's values as JSON: an expression for a select list. */
export function rowJson(columns: readonly TypedName[]): string {
  return `json_build_array(${columns.map(({ name, type }) => valueJson(quoteIdentifier(name), type)).join(', ')})`;
}

export function valueJson(value: string, type: ColumnType): string {
  const parts = [`${value}::text`, type.composite ? partsJson(value, type) : plainJson(value, type), `pg_catalog.to_jsonb(${value})::text`];
  return `json_build_array(${[...parts, ...(type.composite ? [`pg_catalog.to_json(${value})`] : [])].join(', ')})`;
}

function plainJson(value: string, { isArray, scalar, domain }: ColumnType): string {
  const isText = ['BigInt', 'BigFloat', 'JSON', 'enum'].includes(scalar) || domain?.base.scalar === 'JSON';
  return `pg_catalog.to_json(${value}${isArray && isText ? '::text[]' : ''})`;
}

function partsJson(value: string, type: ColumnType): string {
  const element = { ...type, isArray: false };
  // Arrays within others need another name.
  const index = `i${value.length}`;
  const parts = type.isArray
    ? `array(select ${valueJson(`(${value})[${index}]`, element)} from generate_series(1, cardinality(${value})) as ${index} order by ${index})`
    : `json_build_array(${type.composite!.attributes.map((each) => valueJson(`(${value}).${quoteIdentifier(each.name)}`, each.type)).join(', ')})`;
  return `case when (${value})::text is not null then pg_catalog.to_json(${parts}) end`;
}

export function loadedValues(types: NamedTypes, named: readonly TypedName[], raw: readonly RawValue[]): ReadonlyMap<string, LoadedValue> {
  return new Map(
    named.map(({ name, type, shape }, index) => {
      const value = loadedValue(types, type, raw[index]!);
      if (!shape) return [name, value];
      const json = value.text === null ? undefined : parseJson(value.text);
      return [name, { ...value, shaped: shapedValue(types, shapeType(types, shape), json) }];
    }),
  );
}

export function loadedValue(types: NamedTypes, type: ColumnType, [text, json, jsonb, whole]: RawValue): LoadedValue {
  if (text === null) return noValue;
  // In cursors, what JSON would nest is text.
  if (!type.composite)
    return {
      text,
      json: shownValue(types, type, text, json),
      jsonb: isJson(type) || type.scalar === 'GeoJSON' ? JSON.stringify(text) : jsonb!,
    };
  if (!isObject(types, type)) return { text, json: whole, jsonb: JSON.stringify(text) };
  const raw = json as readonly RawValue[];
  const value = { text, json: null, jsonb: JSON.stringify(text) };
  if (type.isArray) return { ...value, items: raw.map((item) => loadedValue(types, { ...type, isArray: false }, item)) };
  return { ...value, members: loadedValues(types, type.composite.attributes, raw) };
}

function shownValue(types: NamedTypes, type: ColumnType, text: string, json: unknown): unknown {
  const names = valueNames(types, type);
  const named = (label: unknown) => names.get(label as string) ?? label;
  if (type.isArray) return (json as unknown[]).map(named);
  if (type.scalar === 'GeoJSON') return shownPlace(text);
  if (type.enum) return named(text);
  if (['BigInt', 'BigFloat', 'UUID', 'JSON'].includes(type.scalar) || isJson(type)) return text;
  // Minus zero is zero.
  return type.scalar === 'Float' ? Number(json) + 0 : json;
}

/** What the labels of an enum are called, where a directive says so. */
export function valueNames({ enums }: NamedTypes, { enum: description }: ColumnType): ReadonlyMap<string, string> {
  if (!description || !enums.has(description.name)) return new Map();
  return new Map(Object.entries((description.directive?.mappings ?? {}) as Record<string, string>));
}

/** What a composite type has, with its names in GraphQL. */
export function namesOf(
  { composites }: NamedTypes,
  { composite }: ColumnType,
): { readonly names: readonly Column[]; readonly attributes: readonly TypedName[] } {
  return { names: composites.get(composite!.name)!.columns, attributes: composite!.attributes };
}

/** That of null. */
export const noValue: LoadedValue = { text: null, json: null, jsonb: 'null' };

/** What a field shows of the value of a column or an attribute: the value itself, or what it is by its shape. */
export interface Part {
  readonly name: string;
  readonly type: ColumnType;
  readonly in: (values: ReadonlyMap<string, LoadedValue> | undefined) => LoadedValue | undefined;
}

export function partOf(types: NamedTypes, column: Column, { name, type, shape }: TypedName): Part {
  if (!column.shape || !shape) return { name, type, in: (values) => values?.get(name) };
  return { name, type: shapeType(types, shape), in: (values) => values?.get(name)?.shaped };
}

type NameKind = 'fieldName' | 'rowFieldName' | 'filterName';

/** What has a name in GraphQL; what is ordered as a whole has another for what is in it. */
export function columnNamed(columns: readonly Column[], kind: NameKind, name: string): Column | undefined {
  return (
    columns.find((each) => each[kind] === name) ?? columns.find((each) => [`${each[kind]}Path`, `${each[kind]}Members`].includes(name))
  );
}

/** The member of a composite value that has a name in GraphQL. */
export function memberOf(types: NamedTypes, { names, attributes }: ReturnType<typeof namesOf>, kind: NameKind, name: string): Part {
  const column = columnNamed(names, kind, name)!;
  return partOf(types, column, attributes.find((each) => each.name === column.name)!);
}
