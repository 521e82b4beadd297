/** Tests of ranges, and their bounds as JSON: `t1."during" && $1::tstzrange`, `lower(t1."during")`. GiST and SP-GiST indexes find rows by the operators. */
import { namedTypes, operandType, rangesOf } from '../../model/types/named-types.ts';
import { rangeOperators } from '../../model/types/operators.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { RangeTest } from '../../plan/conditions.ts';
import type { BoundsOfType, RangeValue, TypeNamePlan } from '../../plan/plan.ts';
import { and, as, select } from '../../sql/clauses.ts';
import { concatenate, type JsonText, jsonRows } from '../../sql/json-text.ts';
import { bind, builtIn, identifier, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { StatementContext } from '../statement.ts';
import { bound, testOf } from './comparison.ts';
import { valueJson } from './value-json.ts';

/** Whether a range or multirange passes the test. */
export function rangeCondition(value: Sql, type: ValueType, test: RangeTest): Sql {
  switch (test.kind) {
    case 'range is empty':
      return sql`${builtIn('isempty', value)} = ${bind(test.parameter, 'boolean')}`;
    case 'bound':
      return and(test.tests.map((each) => testOf(builtIn(test.side, value), each, test.type)));
    case 'range test': {
      const { symbol, takes } = rangeOperators[test.operator];
      // There is no operator for a range of a domain and a value of the type that the domain is based on.
      const right = bound(test.parameter, takes === 'element' ? rangesOf(type)!.range.bound : operandType(type));
      return sql`${value} ${trusted(symbol)} ${right}`;
    }
  }
}

/** The object of a range, or the list of those of several; null if the value is, which the SQL uses several times. */
export function boundsJson(
  { type, members }: Pick<BoundsOfType, 'type' | 'members'>,
  value: Sql,
  notNull: boolean,
  context: StatementContext,
): JsonText {
  const ranges = rangesOf(type);
  if (ranges === undefined) throw new Error(`${type.sqlType} has no ranges.`);
  const objectOf = (range: Sql): Sql => concatenate(context.object(members, (member) => partJson(range, member, ranges.range.bound)));
  if (!ranges.areMany) return [notNull ? objectOf(value) : sql`case when ${value} is null then 'null' else ${objectOf(value)} end`];
  const alias = context.aliases.next();
  const element = sql`${trusted(alias)}.${identifier('range')}`;
  const json = type.kind === 'list' ? sql`case when ${element} is null then 'null' else ${objectOf(element)} end` : objectOf(element);
  const from = as(sql`${builtIn('unnest', value)} with ordinality`, alias, ['range', 'n']);
  const list = select({ columns: [sql`'[' || ${jsonRows(json, [sql`${trusted(alias)}.${identifier('n')}`])} || ']'`], from });
  return [notNull ? sql`(${list})` : sql`case when ${value} is null then 'null' else (${list}) end`];
}

function partJson(range: Sql, { kind }: Exclude<RangeValue, TypeNamePlan>, type: ValueType): JsonText {
  switch (kind) {
    case 'lower':
    case 'upper':
      return valueJson(builtIn(kind, range), type, false);
    case 'lower inclusive':
      return valueJson(builtIn('lower_inc', range), namedTypes.bool, true);
    case 'upper inclusive':
      return valueJson(builtIn('upper_inc', range), namedTypes.bool, true);
    case 'is empty':
      return valueJson(builtIn('isempty', range), namedTypes.bool, true);
  }
}
