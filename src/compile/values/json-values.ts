/** Tests of JSON, and parts of it: `t1."details" @> $1::jsonb`, `t1."details" #> $1::text[]`. PostgreSQL finds rows for all but paths with variables by a GIN index. */
import type { Column, ValueType } from '../../model/model.ts';
import { operandScalar } from '../../model/types/named-types.ts';
import { jsonOperators } from '../../model/types/operators.ts';
import type { JsonTest, Parameter } from '../../plan/plan.ts';
import { coalesce } from '../../sql/clauses.ts';
import type { JsonText } from '../../sql/json-text.ts';
import { bind, builtIn, cast, literal, type Sql, sql, trusted } from '../../sql/sql.ts';
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

/** `to_json((t1."details" #> $1::text[])::text)`. What is not there is null, or JSON's null in a field that is never null. */
export function jsonPart(value: Sql, { type, notNull }: Column, path: Parameter): JsonText {
  const part = sql`(${value} #> ${bind(path, 'text[]')})`;
  return valueJson(notNull ? coalesce(part, literal('null')) : part, type, notNull);
}

/** json has no such operators. */
function asJsonb(value: Sql, type: ValueType): Sql {
  return type.kind === 'scalar' && operandScalar(type).typeName === 'jsonb' ? value : cast(value, 'jsonb');
}
