/**
 * PostgreSQL values as JSON of their GraphQL types: `to_json(t1."title")`; `"`, `t1."uuid"::uuid`, `"`. `concat` writes values whose text
 * is already JSON, such as integers, without a cast to text.
 *
 * Whatever is written without escapes is cast to the type that it has in the model, which costs nothing. If it has become another type,
 * such as text, since the schema was loaded, PostgreSQL converts it or reports an error, and the request is compiled anew.
 */

import { isArrayDomain } from '../../model/types/named-types.ts';
import { scalars } from '../../model/types/scalars.ts';
import type { EnumValueType, ListType, ScalarType, ValueType } from '../../model/value-type.ts';
import { as, coalesce, select } from '../../sql/clauses.ts';
import { concatenate, type JsonText, jsonRows } from '../../sql/json-text.ts';
import { builtIn, cast, identifier, join, literal, type Sql, sql, trusted } from '../../sql/sql.ts';
import { inSchemaOf } from './comparison.ts';

/** The JSON of a value; never SQL null. */
export function valueJson(value: Sql, type: ValueType, notNull: boolean): JsonText {
  return written(jsonOf(value, type), notNull);
}

/** Whether the SQL uses the value more than once, in which case it must not be a function call. */
export function repeatsValue(type: ValueType): boolean {
  return (type.kind === 'enum' && type.enum.mapped) || (type.kind === 'list' && writesElements(type));
}

/** Whether each element of an array becomes JSON on its own: enums with names, and shapes of PostGIS, which `to_json` writes otherwise. */
function writesElements({ element }: ListType): boolean {
  return element.kind === 'enum' ? element.enum.mapped : element.traits.geometry !== null && element.domain === undefined;
}

/** How a value becomes JSON: its text, its text in quotes, or an expression of type json or text. Null if the value is null. */
interface Form {
  readonly kind: 'bare' | 'quoted' | 'json';
  readonly value: Sql;
}

function written({ kind, value }: Form, notNull: boolean): JsonText {
  if (notNull) return kind === 'quoted' ? ['"', value, '"'] : [value];
  if (kind === 'quoted') return [quotedOrNull(cast(value, 'text'))];
  return [orNull(kind === 'bare' ? cast(value, 'text') : value)];
}

/** A value of type text or json, or JSON null. */
export function orNull(json: Sql): Sql {
  return coalesce(json, literal('null'));
}

/** A text that needs no escapes as a JSON string, or JSON null. */
export function quotedOrNull(text: Sql): Sql {
  return orNull(sql`'"' || ${text} || '"'`);
}

function jsonOf(value: Sql, type: ValueType): Form {
  switch (type.kind) {
    case 'scalar':
      return scalarJson(value, type);
    case 'enum':
      return enumJson(value, type);
    case 'list':
      return { kind: 'json', value: listJson(value, type) };
    default:
      throw new Error(`A value of kind ${type.kind} has no JSON of its own.`);
  }
}

export function toJson(value: Sql): Sql {
  return builtIn('to_json', value);
}

function scalarJson(value: Sql, type: ScalarType): Form {
  const { scalar, typeName, isBareJson, traits } = type;
  if (traits.geometry !== null && type.domain === undefined)
    return { kind: 'json', value: sql`${inSchemaOf(type, 'st_asgeojson')}(${value})` };
  if (isBareJson) return { kind: 'json', value: typeName === 'json' ? onOneLine(cast(value, 'text')) : cast(value, 'text') };
  switch (scalars[scalar].json) {
    case 'bare':
      return { kind: 'bare', value: cast(value, typeName) };
    case 'cast':
      // Without the cast to text, PostgreSQL writes t and f.
      return { kind: 'json', value: cast(cast(value, typeName), 'text') };
    case 'quoted':
      return { kind: 'quoted', value: cast(value, typeName) };
    case 'float to json':
      // Adding zero turns -0 into 0, because JSON clients distinguish them. The zero has the same type, because float4 has fewer digits
      // than float8.
      return { kind: 'json', value: toJson(sql`${value} + '0'::${trusted(typeName)}`) };
    case 'text to json':
      return { kind: 'json', value: toJson(cast(value, 'text')) };
    case 'to json':
      // `to_json` writes dates and times in ISO 8601, regardless of DateStyle.
      return { kind: 'json', value: toJson(value) };
  }
}

/** The text of JSON without line breaks, which separate the events of a stream. Those in its strings are escaped. */
function onOneLine(text: Sql): Sql {
  return builtIn('translate', text, literal('\n\r'), literal('  '));
}

const safeLabel = /^[ !#-[\]-~]*$/;

function enumJson(value: Sql, { enum: { values, mapped } }: EnumValueType): Form {
  if (!mapped) {
    const isSafe = values.every(({ label }) => safeLabel.test(label));
    // `enum_out` takes only enums. A cast would need a privilege on the schema of the type.
    return isSafe ? { kind: 'quoted', value: builtIn('enum_out', value) } : { kind: 'json', value: toJson(value) };
  }
  const cases = values
    .filter(({ name, label }) => name !== label)
    .map(({ name, label }) => sql` when ${literal(label)} then ${literal(JSON.stringify(name))}`);
  return { kind: 'json', value: sql`case ${value}${join(cases, '')} else ${toJson(value)} end` };
}

function listJson(value: Sql, type: ListType): Sql {
  const { element } = type;
  if (writesElements(type)) {
    const items = as(sql`${builtIn('unnest', value)} with ordinality`, 'items', ['item', 'n']);
    const json = jsonRows(cast(concatenate(valueJson(identifier('item'), element, false)), 'text'), [identifier('n')]);
    return sql`case when ${value} is not null then (${select({ columns: [sql`'[' || ${json} || ']'`], from: items })}) end`;
  }
  if (element.kind === 'scalar' && element.isBareJson) return onOneLine(cast(toJson(value), 'text'));
  const asText = element.kind === 'enum' || scalars[element.scalar].listsText;
  return toJson(asText ? cast(value, 'text[]') : value);
}

/**
 * The JSON of a cursor element; never SQL null. It is a scalar, as jsonb writes it, so that it can be read back. A value whose JSON would
 * be an object or list is a string instead, except for domains over arrays of numbers, which are lists as in pg_graphql.
 */
export function cursorElementJson(value: Sql, type: ValueType, notNull: boolean): JsonText {
  const isBare = type.kind === 'scalar' && scalars[type.scalar].elementJson === 'bare';
  return written(
    isBare ? { kind: 'bare', value: cast(value, type.typeName) } : { kind: 'json', value: elementExpression(value, type) },
    notNull,
  );
}

/**
 * The JSON of a nodeId element; never SQL null. Like a cursor element, except for values of composite types, which are objects as in
 * pg_graphql.
 */
export function keyElementJson(value: Sql, type: ValueType, notNull: boolean): JsonText {
  if (type.kind !== 'row' && type.kind !== 'composite') return cursorElementJson(value, type, notNull);
  return written({ kind: 'json', value: builtIn('to_jsonb', value) }, notNull);
}

function elementExpression(value: Sql, type: ValueType): Sql {
  const asText = cast(value, 'text');
  if (type.kind === 'enum') return toJson(value);
  if (isArrayDomain(type)) {
    const isNumbers = sql`${asText} ~ ${literal('^[{]-?[0-9]+(,-?[0-9]+)*[}]$')}`;
    return sql`case when ${isNumbers} then ${builtIn('to_jsonb', value)} else ${builtIn('to_jsonb', asText)} end`;
  }
  if (type.kind !== 'scalar' || type.nestsInJson) return toJson(asText);
  const { elementJson } = scalars[type.scalar];
  if (elementJson === 'text to json') return toJson(asText);
  return elementJson === 'to jsonb' ? builtIn('to_jsonb', value) : toJson(value);
}

/** The text in base64, on one line. */
export function opaqueId(text: Sql): Sql {
  const base64 = builtIn('encode', builtIn('convert_to', text, literal('UTF8')), literal('base64'));
  return builtIn('replace', base64, literal('\n'), literal(''));
}

/** An opaque id as a JSON string; never null. */
export function opaqueIdJson(text: Sql): JsonText {
  return ['"', opaqueId(text), '"'];
}
