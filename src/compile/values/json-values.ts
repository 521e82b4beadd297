/** Tests of JSON, and parts of it: `t1."details" @> $1::jsonb`, `t1."details" #> $1::text[]`. PostgreSQL finds rows for all but paths with variables by a GIN index. */
import type { Column, Table } from '../../model/model.ts';
import { jsonValueTypes, operandScalar } from '../../model/types/named-types.ts';
import { jsonOperators } from '../../model/types/operators.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { JsonPathValue, JsonTest } from '../../plan/conditions.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { JsonChange } from '../../plan/plan.ts';
import { coalesce, list } from '../../sql/clauses.ts';
import type { JsonText } from '../../sql/json-text.ts';
import { bind, builtIn, cast, identifier, integer, join, literal, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';
import { valueJson } from './value-json.ts';

/** Whether a value of json or jsonb passes the test. */
export function jsonCondition(value: Sql, type: ValueType, { operator, parameter, vars }: JsonTest): Sql {
  const { symbol, takes } = jsonOperators[operator];
  const left = asJsonb(value, type);
  if (takes === 'path') {
    const path = bind(parameter, 'jsonpath');
    if (vars === null) return sql`${left} @? ${path}`;
    // As for `@?`, what a path does not fit, such as an element of an object, is nothing instead of an error.
    return builtIn('jsonb_path_exists', left, path, bind(vars, 'jsonb'), trusted('true'));
  }
  const types = { json: 'jsonb', key: 'text', keys: 'text[]' } as const;
  return sql`${left} ${trusted(symbol)} ${bind(parameter, types[takes])}`;
}

/** `to_json((t1."details" #> $1::text[])::text)`. What is not there is null, or JSON's null in a column that is not null. */
export function jsonPart(value: Sql, { type, notNull }: Column, path: Parameter, isNeverNull: boolean): JsonText {
  const part = sql`(${value} #> ${bind(path, 'text[]')})`;
  if (!notNull) return valueJson(part, type, false);
  const there = coalesce(part, literal('null'));
  return valueJson(isNeverNull ? there : sql`(case when ${value} is not null then ${there} end)`, type, isNeverNull);
}

/** What is at a path of json or jsonb as a value of the type; null if it is none. */
export function jsonValue(value: Sql, { keys, as }: JsonPathValue): Sql {
  const part = sql`(${value} #> ${bind(keys, 'text[]')})`;
  return jsonAs(cast(part, 'jsonb'), sql`(${value} #>> ${bind(keys, 'text[]')})`, jsonValueTypes[as].type);
}

/**
 * A value of jsonb, also given as its text, as one of the type: `(case when pg_catalog.jsonb_typeof(v) = 'number' then v::numeric end)`. Null
 * if it is none, or out of range.
 */
export function jsonAs(json: Sql, text: Sql, type: ValueType): Sql {
  if (type.kind === 'list') return listAs(json, type);
  if (type.kind === 'enum') {
    const labels = list(type.enum.values.map(({ label }) => literal(label)));
    return sql`(case when ${text} in (${labels}) then ${cast(text, type.sqlType)} end)`;
  }
  if (type.kind !== 'scalar') return json;
  const number = cast(json, 'numeric');
  switch (type.typeName) {
    case 'numeric':
      return sql`(case when ${isOf(json, 'number')} then ${number} end)`;
    case 'int4':
    case 'int8':
    case 'float8': {
      const [least, most] = bounds[type.typeName];
      const isWhole = type.typeName === 'float8' ? nothing : sql` and ${number} = ${builtIn('trunc', number)}`;
      const fits = sql`${number} between ${trusted(least)} and ${trusted(most)}${isWhole}`;
      return sql`(case when ${isOf(json, 'number')} then case when ${fits} then ${cast(number, type.typeName)} end end)`;
    }
    case 'bool':
      return sql`(case when ${isOf(json, 'boolean')} then ${cast(json, 'bool')} end)`;
    case 'date':
      return sql`(case when ${text} ~ ${literal(`^${datePattern}$`)} then case when ${isDay(text)} then ${cast(text, 'date')} end end)`;
    case 'timestamptz':
      return sql`(case when ${text} ~ ${literal(`^${datePattern}(${timePattern})?$`)} then case when ${isDay(text)} then ${cast(text, 'timestamptz')} end end)`;
    case 'uuid':
      return sql`(case when ${text} ~* ${literal(uuidPattern)} then ${cast(text, 'uuid')} end)`;
    case 'text':
      return text;
    default:
      return json;
  }
}

function listAs(json: Sql, { element, sqlType }: Extract<ValueType, { kind: 'list' }>): Sql {
  const value = jsonAs(trusted('e.v'), sql`(e.v #>> '{}')`, element);
  const elements = sql`${builtIn('jsonb_array_elements', json)} with ordinality as e(v, n)`;
  const array = sql`array(select ${value} from ${elements} order by e.n)::${trusted(sqlType)}`;
  return sql`(case when ${isOf(json, 'array')} then ${array} end)`;
}

const bounds = {
  int4: ['-2147483648', '2147483647'],
  int8: ['-9223372036854775808', '9223372036854775807'],
  float8: ['-1.7976931348623157e308', '1.7976931348623157e308'],
} as const;

function isOf(json: Sql, type: 'number' | 'boolean' | 'array' | 'object'): Sql {
  return sql`${builtIn('jsonb_typeof', json)} = ${literal(type)}`;
}

/** What is read as a UUID or a date, as regular expressions of PostgreSQL and of JavaScript. */
export const uuidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
export const datePattern = '(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])';
export const timePattern = '[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)?';

/** Whether the month of a text like a date has that day. */
function isDay(text: Sql): Sql {
  const first = sql`(${builtIn('left', text, integer(7))} || '-01')::date`;
  const last = builtIn('date_part', literal('day'), sql`${first} + interval '1 month - 1 day'`);
  return sql`${builtIn('substr', text, integer(9), integer(2))}::int4 <= ${last}`;
}

/**
 * An assignment to a column of JSON: `"details" = (select … from (select t1."details"::jsonb as v) as j)`. What is no object or array, such
 * as null, counts as an empty object where something is put into it.
 */
export function jsonAssignment(change: JsonChange, value: Sql): Sql {
  const { column } = change;
  if (change.kind === 'members') return sql`${identifier(column.name)} = ${withMembers(value, change)}`;
  const { merge, remove, set } = change;
  const merged = merge === null ? cast(value, 'jsonb') : mergedInto(cast(value, 'jsonb'), bind(merge, 'jsonb'));
  const removed = remove.reduce((from, path) => without(from, bind(path, 'text[]')), merged);
  const all = set.reduce((into, each) => withValueAt(into, bind(each.path, 'text[]'), each.value), removed);
  return sql`${identifier(column.name)} = ${all}`;
}

/** The value with the members of an object of the shape, or with the elements of a list after its own. */
function withMembers(value: Sql, { shape, members }: Extract<JsonChange, { kind: 'members' }>): Sql {
  const [old, given] = [trusted('j.v'), trusted('j.n')];
  const both = shape.isList ? sql`${old} || ${given}` : combined(old, given, shape.table);
  const changed = sql`when ${isOf(old, shape.isList ? 'array' : 'object')} then ${both} else ${given}`;
  const from = sql`(select ${cast(value, 'jsonb')} as v, ${bind(members, 'jsonb')} as n offset 0)`;
  return sql`(select case ${changed} end from ${from} as j)`;
}

/** An object with the members of another, those of objects inside that both have one by one. */
function combined(old: Sql, given: Sql, { columns }: Table): Sql {
  const inner = columns.flatMap(({ name, shape }) => {
    if (shape === null || shape.isList) return [];
    const key = literal(name);
    const [before, after] = [sql`(${old} -> ${key})`, sql`(${given} -> ${key})`];
    const object = builtIn('jsonb_build_object', key, combined(before, after, shape.table));
    return sql` || case when ${isOf(before, 'object')} and ${isOf(after, 'object')} then ${object} else '{}' end`;
  });
  return sql`${old} || ${given}${join(inner, '')}`;
}

function mergedInto(value: Sql, other: Sql): Sql {
  return sql`(select case when ${isContainer(trusted('j.v'))} then j.v || ${other} else ${other} end from ${once(value)} as j)`;
}

function without(value: Sql, path: Sql): Sql {
  return sql`(select case when ${isContainer(trusted('j.v'))} then j.v #- ${path} else j.v end from ${once(value)} as j)`;
}

/** `jsonb_set` as far as there are objects and arrays (`d.n` keys), with an object around the value for each key that is left. */
function withValueAt(value: Sql, path: Sql, parameter: Parameter | null): Sql {
  const container = sql`(select case when ${isContainer(trusted('i.v'))} then i.v else '{}' end as v from ${once(value)} as i offset 0) as j`;
  const depth = sql`(select ${builtIn('max', trusted('s.i'))} as n from ${builtIn('generate_series', integer(0), trusted('pg_catalog.cardinality(p.path) - 1'))} as s(i)
    where s.i = 0 or ${isContainer(trusted('j.v #> p.path[:s.i]'))}) as d`;
  const opening = builtIn('concat', literal('{'), builtIn('to_json', trusted('k.key')), literal(':'));
  const openings = sql`(select pg_catalog.string_agg(${opening}, '' order by k.n) from pg_catalog.unnest(p.path[d.n + 2:]) with ordinality as k(key, n))`;
  const closings = builtIn('repeat', literal('}'), trusted('pg_catalog.cardinality(p.path) - d.n - 1'));
  const wrapped = cast(builtIn('concat', openings, parameter === null ? literal('null') : bind(parameter, 'jsonb'), closings), 'jsonb');
  const result = builtIn('jsonb_set', trusted('j.v'), trusted('p.path[:d.n + 1]'), wrapped, trusted('true'));
  return sql`(select ${result} from ${container} cross join (select ${path} as path) as p cross join lateral ${depth})`;
}

/** The value as `v`. `offset 0` keeps PostgreSQL from computing it wherever it is used, which would double with each change. */
function once(value: Sql): Sql {
  return sql`(select ${value} as v offset 0)`;
}

function isContainer(value: Sql): Sql {
  return sql`${builtIn('jsonb_typeof', value)} in ('object', 'array')`;
}

/** json has no such operators. */
export function asJsonb(value: Sql, type: ValueType): Sql {
  return type.kind === 'scalar' && operandScalar(type).typeName === 'jsonb' ? value : cast(value, 'jsonb');
}
