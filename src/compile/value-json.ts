/**
 * A value of PostgreSQL as the JSON of its GraphQL type: `to_json(t1."title")`, `"` and `t1."id"` and `"`. Values whose text is JSON already, such as
 * integers, are left to `concat`, which needs no cast to text.
 */
import type { EnumValueType, ListType, ScalarType, ValueType } from '../model/model.ts';
import { concatenate, type JsonText } from '../sql/json-text.ts';
import { builtIn, join, literal, type Sql, sql, trusted } from '../sql/sql.ts';

/** JSON of a value; never null. */
export function valueJson(value: Sql, type: ValueType, notNull: boolean): JsonText {
  return written(jsonOf(value, type), notNull);
}

/** Whether the SQL repeats the value, so that the value must not be a function call. */
export function repeatsValue(type: ValueType): boolean {
  return (type.kind === 'enum' && type.enum.mapped) || (type.kind === 'list' && type.element.kind === 'enum' && type.element.enum.mapped);
}

/** How a value becomes JSON: as PostgreSQL writes it, the same in quotes, or by an expression of type json or text. Null if the value is null. */
interface Form {
  readonly kind: 'bare' | 'quoted' | 'json';
  readonly value: Sql;
}

function written({ kind, value }: Form, notNull: boolean): JsonText {
  if (notNull) return kind === 'quoted' ? quoted(value) : [value];
  if (kind === 'quoted') return [quotedOrNull(sql`${value}::text`)];
  return [sql`coalesce(${kind === 'bare' ? sql`${value}::text` : value}, 'null')`];
}

function quoted(value: Sql): JsonText {
  return ['"', value, '"'];
}

/** JSON of a text that needs no escapes, or of null. */
export function quotedOrNull(text: Sql): Sql {
  return sql`coalesce('"' || ${text} || '"', 'null')`;
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

const toJson = (value: Sql): Sql => builtIn('to_json', value);

function scalarJson(value: Sql, { scalar, typeName }: ScalarType): Form {
  switch (scalar) {
    case 'Int':
      return { kind: 'bare', value };
    case 'Boolean':
      // Without the cast, PostgreSQL writes t and f.
      return { kind: 'json', value: sql`${value}::text` };
    case 'BigInt':
    case 'BigFloat':
    case 'UUID':
      return { kind: 'quoted', value };
    case 'Float':
      // Adding zero turns -0 into 0: JSON clients distinguish them. The sum keeps the type, because float4 has fewer digits.
      return { kind: 'json', value: toJson(sql`${value} + '0'::${trusted(typeName)}`) };
    case 'JSON':
      return { kind: 'json', value: toJson(sql`${value}::text`) };
    default:
      // `to_json` writes dates and times in ISO 8601, whatever DateStyle is.
      return { kind: 'json', value: toJson(value) };
  }
}

const safeLabel = /^[ !#-[\]-~]*$/;

function enumJson(value: Sql, { enum: { values, mapped } }: EnumValueType): Form {
  if (!mapped) {
    const isSafe = values.every(({ label }) => safeLabel.test(label));
    return isSafe ? { kind: 'quoted', value } : { kind: 'json', value: toJson(value) };
  }
  const cases = values
    .filter(({ name, label }) => name !== label)
    .map(({ name, label }) => sql` when ${literal(label)} then ${literal(JSON.stringify(name))}`);
  return { kind: 'json', value: sql`case ${value}${join(cases, '')} else ${toJson(value)} end` };
}

function listJson(value: Sql, { element }: ListType): Sql {
  if (element.kind === 'enum' && element.enum.mapped) {
    const item = concatenate(valueJson(trusted('item'), element, false));
    return sql`case when ${value} is not null then (select '[' || coalesce(pg_catalog.string_agg(${item}::text, ',' order by n), '') || ']' from ${builtIn('unnest', value)} with ordinality as items(item, n)) end`;
  }
  const asText = element.kind === 'enum' || ['BigInt', 'BigFloat', 'JSON'].includes(element.scalar);
  return toJson(asText ? sql`${value}::text[]` : value);
}

/**
 * JSON of an element of a cursor. A scalar, as jsonb writes it, so that it can be read back: a value whose JSON is an object or a list is there as text, but
 * for domains over arrays of numbers, which are lists as in pg_graphql. Never null.
 */
export function cursorElementJson(value: Sql, type: ValueType, notNull: boolean): JsonText {
  const isWhole = type.kind === 'scalar' && (type.scalar === 'Int' || type.scalar === 'BigInt');
  return written(isWhole ? { kind: 'bare', value } : { kind: 'json', value: elementExpression(value, type) }, notNull);
}

/** JSON of an element of a nodeId: the same, but for values of composite types, which are objects as in pg_graphql. Never null. */
export function keyElementJson(value: Sql, type: ValueType, notNull: boolean): JsonText {
  if (type.kind !== 'row' && type.kind !== 'composite') return cursorElementJson(value, type, notNull);
  return written({ kind: 'json', value: builtIn('to_jsonb', value) }, notNull);
}

function elementExpression(value: Sql, type: ValueType): Sql {
  const asText = sql`${value}::text`;
  if (type.kind === 'enum') return toJson(value);
  if (type.kind === 'unsupported') {
    const isNumbers = sql`${asText} ~ ${literal('^[{]-?[0-9]+(,-?[0-9]+)*[}]$')}`;
    return sql`case when ${isNumbers} then ${builtIn('to_jsonb', value)} else ${builtIn('to_jsonb', asText)} end`;
  }
  if (type.kind !== 'scalar' || type.scalar === 'JSON' || type.nestsInJson) return toJson(asText);
  return type.scalar === 'Float' || type.scalar === 'Opaque' ? builtIn('to_jsonb', value) : toJson(value);
}

/** The characters of an opaque id: the text in base64, on one line. */
export function opaqueId(text: Sql): Sql {
  return sql`pg_catalog.replace(pg_catalog.encode(pg_catalog.convert_to(${text}, 'UTF8'), 'base64'), ${literal('\n')}, '')`;
}

/** An opaque id as a JSON string; never null. */
export function opaqueIdJson(text: Sql): JsonText {
  return quoted(opaqueId(text));
}
