/**
 * A value of PostgreSQL as the JSON text of its GraphQL type: `to_json(t1."title")::text`, `'"' || t1."id"::text || '"'`. Each is of type text,
 * by an explicit cast: `||` takes other types too, but by functions in SQL, which PostgreSQL inlines whenever it plans.
 */
import type { EnumValueType, ListType, ScalarType, ValueType } from '../model/model.ts';
import { builtIn, literal, type Sql, sql, trusted } from '../sql/sql.ts';

/** JSON text of a value; never null. */
export function valueJson(value: Sql, type: ValueType, notNull: boolean): Sql {
  const json = jsonOf(value, type);
  return notNull ? json : sql`coalesce(${json}, 'null')`;
}

/** Whether the text names the value more than once, so that a function call must not stand in its place. */
export function repeatsValue(type: ValueType): boolean {
  return (type.kind === 'enum' && type.enum.mapped) || (type.kind === 'list' && type.element.kind === 'enum' && type.element.enum.mapped);
}

/** Null where the value is null. */
function jsonOf(value: Sql, type: ValueType): Sql {
  switch (type.kind) {
    case 'scalar':
      return scalarJson(value, type);
    case 'enum':
      return enumJson(value, type);
    case 'list':
      return listJson(value, type);
    default:
      throw new Error(`A value of kind ${type.kind} has no JSON text of its own.`);
  }
}

const plain = (value: Sql): Sql => sql`${value}::text`;
const quoted = (value: Sql): Sql => sql`('"' || ${plain(value)} || '"')`;
const toJson = (value: Sql): Sql => plain(builtIn('to_json', value));

function scalarJson(value: Sql, { scalar, typeName }: ScalarType): Sql {
  switch (scalar) {
    case 'Int':
    case 'Boolean':
      return plain(value);
    case 'BigInt':
    case 'BigFloat':
    case 'UUID':
      return quoted(value);
    case 'Float':
      // Minus zero plus zero is zero; JSON clients tell -0 and 0 apart. The sum keeps the type: float4 shows fewer digits.
      return toJson(sql`${value} + '0'::${trusted(typeName)}`);
    case 'JSON':
      return toJson(plain(value));
    default:
      // Dates and times by to_json, which writes ISO 8601 whatever DateStyle says.
      return toJson(value);
  }
}

const safeLabel = /^[ !#-[\]-~]*$/;

function enumJson(value: Sql, { enum: { values, mapped } }: EnumValueType): Sql {
  if (!mapped) return values.every(({ label }) => safeLabel.test(label)) ? quoted(value) : toJson(value);
  const cases = values
    .filter(({ name, label }) => name !== label)
    .map(({ name, label }) => sql` when ${literal(label)} then ${literal(JSON.stringify(name))}`);
  return sql`case ${value}${{ chunks: cases.flatMap(({ chunks }) => chunks) }} else ${toJson(value)} end`;
}

function listJson(value: Sql, { element }: ListType): Sql {
  if (element.kind === 'enum' && element.enum.mapped) {
    const item = valueJson(trusted('item'), element, false);
    return sql`case when ${value} is not null then (select '[' || coalesce(string_agg(${item}, ',' order by n), '') || ']' from ${builtIn('unnest', value)} with ordinality as items(item, n)) end`;
  }
  const asText = element.kind === 'enum' || ['BigInt', 'BigFloat', 'JSON'].includes(element.scalar);
  return toJson(asText ? sql`${value}::text[]` : value);
}

/** JSON text of a key column as jsonb writes it: what cursors and nodeIds hold. Never null. */
export function keyJson(value: Sql, type: ValueType, notNull: boolean): Sql {
  const isWhole = type.kind === 'scalar' && (type.scalar === 'Int' || type.scalar === 'BigInt');
  const alike =
    type.kind === 'enum' || (type.kind === 'scalar' && type.scalar !== 'Float' && type.scalar !== 'Opaque' && type.scalar !== 'JSON');
  const json = isWhole ? plain(value) : alike ? toJson(value) : plain(builtIn('to_jsonb', value));
  return notNull ? json : sql`coalesce(${json}, 'null')`;
}

/** The text of an opaque id as a JSON string: base64 in one line. */
export function opaqueIdJson(text: Sql): Sql {
  return sql`('"' || replace(encode(convert_to(${text}, 'UTF8'), 'base64'), ${literal('\n')}, '') || '"')`;
}
