/** Comparisons with a bound value: `t1."age" > $1::int4`, `t1."id" = any($1::int4[])`. */
import type { ColumnPair } from '../../model/model.ts';
import { operandScalar, operandType } from '../../model/types/named-types.ts';
import { type Operator, operators } from '../../model/types/operators.ts';
import { typeFilters } from '../../model/types/type-filters.ts';
import type { ListType, ScalarType, ValueType } from '../../model/value-type.ts';
import type { Test } from '../../plan/conditions.ts';
import type { Parameter, ValuePart } from '../../plan/parameter.ts';
import { bind, bindUncast, builtIn, cast, integer, literal, type Sql, sql, trusted } from '../../sql/sql.ts';

/** The type to which values of `type` are cast for comparison. */
export function comparedType(type: ValueType): string {
  if (type.kind === 'list' && type.element.kind === 'scalar' && operandScalar(type.element).typeName === 'json') return 'jsonb[]';
  return type.kind === 'scalar' && type.comparedAs !== undefined ? type.comparedAs : type.sqlType;
}

/** The value, cast so that PostgreSQL can compare it. */
export function comparable(value: Sql, type: ValueType): Sql {
  const compared = comparedType(type);
  return compared === type.sqlType ? value : cast(value, compared);
}

/** Whether two values of a type differ; nulls do not. */
export function differ(one: Sql, other: Sql, type: ValueType): Sql {
  return sql`${comparable(one, type)} is distinct from ${comparable(other, type)}`;
}

/** The value, compared by a collation, whatever that of the other value is. */
export function collated(value: Sql, collation: ColumnPair['collation']): Sql {
  return collation === null ? value : sql`${value} collate ${trusted(collation.sql)}`;
}

/**
 * The value in a form that `<` can compare; null stays null. If the ordering operators have other names, a record does it: records compare
 * by the default ordering of their columns.
 */
export function orderable(value: Sql, type: ValueType): Sql {
  const isOdd = type.kind === 'scalar' && type.oddlyOrdered;
  return isOdd ? sql`case when ${value} is not null then row(${value})::record end` : comparable(value, type);
}

/**
 * Whether a value is null. `is null` and `is not null` ask for the attributes of a composite value: both are false if only some of them are
 * null.
 */
export function isNull(value: Sql, type: ValueType): Sql {
  return sql`${value} ${trusted(isComposite(type) ? 'is not distinct from null' : 'is null')}`;
}

export function isNotNull(value: Sql, type: ValueType): Sql {
  return sql`${value} ${trusted(isComposite(type) ? 'is distinct from null' : 'is not null')}`;
}

function isComposite(type: ValueType): boolean {
  return type.kind === 'row' || type.kind === 'composite' || (type.kind === 'scalar' && type.composite === true);
}

/** The operand of an operator: of the type itself, or of another one in its schema, such as the pattern of an ltree. */
function operandOf(operator: Operator, type: ComparedType): ComparedType {
  const { operand } = operators[operator];
  if (operand === null) return type;
  return { ...type, sqlType: `${type.sqlType.slice(0, type.sqlType.lastIndexOf('.') + 1)}${operand}` };
}

/** The right-hand side of a comparison. A cast to a domain would fail for a value that its checks forbid. */
export function comparand(parameter: Parameter, type: ValueType): Sql {
  if (parameter.encoding.kind === 'json') return composed(bind(parameter, 'jsonb'), type.sqlType);
  const operand = operandType(type);
  return placed(comparable(bound(parameter, operand, comparandType(operand)), operand), operand);
}

/** A shape, in the coordinates of its column. */
function placed(value: Sql, type: ValueType): Sql {
  if (type.kind !== 'scalar' || type.srid === undefined || type.traits.geometry !== 'geometry') return value;
  return sql`${inSchemaOf(type, 'st_transform')}(${value}, ${integer(type.srid)})`;
}

/** A function or a type in the schema of a type. */
export function inSchemaOf({ sqlType }: Pick<ScalarType, 'sqlType'>, name: string): Sql {
  return trusted(`${sqlType.slice(0, sqlType.lastIndexOf('.') + 1)}${name}`);
}

/** A placeholder for a value of the type, as an argument or next to another value of it. */
export function bound(parameter: unknown, type: Pick<ScalarType, 'sqlType' | 'unnameable'> | ValueType, sqlType = type.sqlType): Sql {
  return isNameable(type) ? bind(parameter, sqlType) : bindUncast(parameter, sqlType);
}

/** Whether the role's statements can name the type. */
export function isNameable(type: object): boolean {
  return !('unnameable' in type);
}

/**
 * A cast to `varchar(3)[]` truncates the elements, which could then equal others. When written they are truncated, as in pg_graphql.
 */
function comparandType(type: ValueType): string {
  const cuts = type.kind === 'list' && type.element.kind === 'scalar' && type.element.traits.truncates === 'in lists';
  return cuts ? `${type.element.sqlType}[]` : type.sqlType;
}

/** Converts JSON to a value of a composite type. */
export function composed(json: Sql, type: string): Sql {
  const record = builtIn('jsonb_to_record', builtIn('jsonb_build_object', literal('value'), json));
  return sql`(select r.value from ${record} as r(value ${trusted(type)}))`;
}

/** Compares an expression with a parameter of a type, or with `value`. */
export function comparisonOf(left: Sql, operator: Operator, parameter: Parameter, type: ComparedType, value?: Sql): Sql {
  const { form, takesList, missesCitext } = operators[operator];
  const { filter } = type.traits ?? {};
  const { symbols, functions } = filter ? typeFilters[filter] : { symbols: {}, functions: {} };
  const symbol = symbols[operator] ?? operators[operator].symbol;
  const operand = operandOf(operator, type);
  const list = (): Sql => bound(parameter, operand, `${operand.sqlType}[]`);
  switch (form) {
    case 'any':
      return sql`${left} = any(${list()})`;
    case 'none':
      return sql`${left} <> all(${list()})`;
    case 'between':
      return sql`${left} between ${bound(partOf(parameter, 'first'), type)} and ${bound(partOf(parameter, 'second'), type)}`;
    case 'ending':
    case 'part':
      // A cast to `varchar(3)` would cut the pattern.
      return sql`${left} like ${bound(partOf(parameter, form), type, type.traits?.ignoresCase ? type.sqlType : 'text')}`;
    case 'ignoring case':
      return type.traits?.ignoresCase ? sql`${left} = ${bound(parameter, type)}` : sql`${lower(left)} = ${lower(bound(parameter, type))}`;
    case 'any ignoring case':
      if (type.traits?.ignoresCase) return sql`${left} = any(${list()})`;
      return sql`${lower(left)} = any(${lowerList(list())})`;
    case 'similar':
      return trigramComparison(left, '%', bound(parameter, type), type);
    case 'infix':
      break;
  }
  const right = value ?? (takesList ? list() : bound(parameter, operand));
  const called = functions[operator];
  if (called !== undefined) return sql`${inSchemaOf(type, called)}(${left}, ${right})`;
  const [compared, to] = missesCitext && type.traits?.ignoresCase ? [caseFolded(left), caseFolded(right)] : [left, right];
  return sql`${compared} ${trusted(type.builtInOperators ? `operator(pg_catalog.${symbol})` : symbol)} ${to}`;
}

/** `array(…)` alone would make a list that is null an empty one, in which no value is, and so `not` would hold for every row. */
function lowerList(list: Sql): Sql {
  return sql`case when ${list} is not null then array(select ${lower(trusted('v'))} from ${builtIn('unnest', list)} as v) end`;
}

/** A comparison of texts by an operator of pg_trgm; false without the extension. */
export function trigramComparison(left: Sql, symbol: '%' | '%>', right: Sql, { trigrams }: Pick<ScalarType, 'trigrams'>): Sql {
  return trigrams === undefined ? trusted('false') : sql`${left} operator(${trusted(`${trigrams}.${symbol}`)}) ${right}`;
}

/** Whether an operator takes something else than a value of the type that it compares. */
export function hasOwnOperand(operator: Operator): boolean {
  return operators[operator].takesList || operators[operator].operand !== null;
}

/** A test of a value that is no column. */
export function testOf(value: Sql, test: Test, type: ValueType): Sql {
  if (test.kind === 'null test') return (test.isNull ? isNull : isNotNull)(value, type);
  const operand = operandType(type);
  const right = hasOwnOperand(test.operator) ? undefined : comparand(test.parameter, type);
  return comparisonOf(comparable(value, type), test.operator, test.parameter, operand, right);
}

/** The parameter, of which only a part is bound, or a pattern made of it. */
export function partOf(parameter: Parameter, as: ValuePart): Parameter {
  return parameter.encoding.kind === 'value' ? { ...parameter, encoding: { ...parameter.encoding, as } } : parameter;
}

function lower(text: Sql): Sql {
  return builtIn('lower', text);
}

/** The type of a comparison: a value type, or one that only SQL knows. */
type ComparedType = Pick<ScalarType, 'sqlType'> & Partial<Pick<ScalarType, 'traits' | 'trigrams'> & Pick<ListType, 'builtInOperators'>>;

/** The text by which citext compares a value. */
function caseFolded(value: Sql): Sql {
  return builtIn('lower', sql`${value}::text collate pg_catalog."default"`);
}
