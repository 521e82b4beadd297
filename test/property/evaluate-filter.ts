/**
 * Which rows a filter lets through, in three-valued logic. Whole numbers, texts, booleans, UUIDs and enums are compared here; of other
 * types PostgreSQL says what one operator yields for one value.
 */
import { type GraphQLInputObjectType, type GraphQLNullableInputType, getNullableType, isInputObjectType, isListType } from 'graphql';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { arrayText, type ColumnType, integerType } from './column-types.ts';
import { evaluateLineage } from './evaluate-lineage.ts';
import {
  keyOf,
  type LoadedRow,
  type LoadedTable,
  nodeIdOf,
  RefusalError,
  rowsOf,
  valueNames,
  valueOf,
  type World,
} from './loaded-tables.ts';
import { columnOf } from './schema-description.ts';
import { quoteLiteral } from './schema-sql.ts';
import { areTied } from './tied-rows.ts';
import { all, any, negate, type Truth } from './truth.ts';
import type { ValueOracle } from './value-oracle.ts';

/** What each row of the table answers to a condition; no condition at all is undefined. */
type Verdicts = ReadonlyMap<LoadedRow, Truth> | undefined;
type FilterValue = Readonly<Record<string, unknown>>;

/** The rows of a table that pass; null where the filter holds no condition. */
export async function filterRows(
  table: LoadedTable,
  type: GraphQLInputObjectType,
  filter: unknown,
  oracle: ValueOracle,
): Promise<LoadedRow[] | null> {
  const verdicts = await new FilterEvaluator(table, type, oracle).judge(filter);
  return verdicts ? rowsOf(table).filter((row) => verdicts.get(row) === true) : null;
}

class FilterEvaluator {
  readonly #table: LoadedTable;
  readonly #type: GraphQLInputObjectType;
  readonly #oracle: ValueOracle;

  constructor(table: LoadedTable, type: GraphQLInputObjectType, oracle: ValueOracle) {
    this.#table = table;
    this.#type = type;
    this.#oracle = oracle;
  }

  async judge(filter: unknown): Promise<Verdicts> {
    if (filter === null || filter === undefined) return undefined;
    const verdicts: Verdicts[] = [];
    for (const [name, value] of Object.entries(filter as FilterValue)) if (value !== null) verdicts.push(await this.#member(name, value));
    return this.#join(verdicts, all);
  }

  /** Of a filter without verdicts: whether it is more than empty objects and lists of `and`, `or` and `not`. */
  hasLostConditions(filter: unknown): boolean {
    if (filter === null) return true;
    return Object.entries(filter as FilterValue).some(([name, value]) => {
      const type = getNullableType(this.#type.getFields()[name]!.type);
      if (isListType(type)) return value === null || (value as unknown[]).some((item) => this.hasLostConditions(item));
      return !this.#isFilter(type) || this.hasLostConditions(value);
    });
  }

  #isFilter(type: GraphQLNullableInputType): type is GraphQLInputObjectType {
    return isInputObjectType(type) && type.name === tableTypeName(this.#table.names, 'Filter');
  }

  async #member(name: string, value: unknown): Promise<Verdicts> {
    const type = getNullableType(this.#type.getFields()[name]!.type);
    // A column may be called like a combinator.
    if (isListType(type)) {
      const verdicts: Verdicts[] = [];
      for (const item of value as unknown[]) verdicts.push(await this.judge(item));
      return this.#join(verdicts, name === 'or' ? any : all);
    }
    if (this.#isFilter(type)) {
      const verdicts = await this.judge(value);
      return verdicts && this.#each((row) => negate(verdicts.get(row)!));
    }
    if (isInputObjectType(type) && type.name === 'IDFilter') return this.#nodeId(value as FilterValue);
    const target = isInputObjectType(type) ? relatedTable(this.#table.world, type.name) : undefined;
    if (target && isInputObjectType(type)) return this.#related(name, target, type, value as FilterValue);
    return this.#column(name, value as FilterValue);
  }

  #nodeId({ eq }: FilterValue): Verdicts {
    if (eq === undefined) return undefined;
    if (eq === null) throw new RefusalError('a nodeId is never null');
    keyOf(this.#table);
    return this.#each((row) => nodeIdOf(row) === eq);
  }

  async #column(field: string, operands: FilterValue): Promise<Verdicts> {
    const name = this.#table.names.columns.find(({ filterName }) => filterName === field)!.name;
    const { type } = columnOf(this.#table.description, name);
    const rows = rowsOf(this.#table);
    const texts = rows.map((row) => valueOf(row, name).text);
    const verdicts: Verdicts[] = [];
    for (const [operator, operand] of Object.entries(operands)) {
      const truths = await this.#compare(texts, type, operator, operand);
      verdicts.push(new Map(rows.map((row, index) => [row, truths[index]!])));
    }
    return this.#join(verdicts, all);
  }

  async #compare(texts: readonly (string | null)[], type: ColumnType, operator: string, operand: unknown): Promise<Truth[]> {
    if (operator === 'is' && operand === null) throw new RefusalError('"is" takes no null');
    if (operator === 'is') return texts.map((text) => (text === null) === (operand === 'NULL'));
    if (operand === null) return texts.map(() => null);
    if (operator === 'in') {
      const lists: Truth[][] = [];
      for (const item of operand as unknown[]) lists.push(await this.#compare(texts, type, 'eq', item));
      // Unlike a comparison, a search in an empty list is false for null too.
      return texts.map((_, index) => any(lists.map((list) => list[index]!)));
    }
    if (operator === 'notIn') {
      const lists: Truth[][] = [];
      for (const item of operand as unknown[]) lists.push(await this.#compare(texts, type, 'neq', item));
      return texts.map((_, index) => all(lists.map((list) => list[index]!)));
    }
    if (operator === 'eqi' || operator === 'inI')
      return this.#ignoringCase(texts, type, operator === 'inI' ? (operand as unknown[]) : [operand]);
    const own = ownComparison(this.#table.world, type, operator, operand);
    if (own) return texts.map((text) => (text === null ? null : own(text)));
    if (operator === 'endsWith' || operator === 'containsText') {
      const escaped = String(operand).replaceAll(/[\\%_]/g, '\\$&');
      return this.#oracle.compare(texts, type, 'like', quoteLiteral(`%${escaped}${operator === 'containsText' ? '%' : ''}`));
    }
    return this.#oracle.compare(
      texts,
      type,
      (networkTypes.includes(type.sql) ? networkOperators[operator] : undefined) ?? operators[operator]!,
      `${quoteLiteral(inputText(this.#table.world, type, operand))}::${type.sql}`,
    );
  }

  async #ignoringCase(texts: readonly (string | null)[], { sql }: ColumnType, operands: readonly unknown[]): Promise<Truth[]> {
    const lists: Truth[][] = [];
    for (const operand of operands) {
      const other = operand === null ? 'null' : `lower(${quoteLiteral(String(operand))}::${sql})`;
      lists.push((await this.#oracle.list(texts, `lower(value::${sql}) = ${other}`)) as Truth[]);
    }
    return texts.map((_, index) => any(lists.map((list) => list[index]!)));
  }

  /** The conditions on related rows are true or false, never unknown. */
  async #related(name: string, target: LoadedTable, type: GraphQLInputObjectType, value: FilterValue): Promise<Verdicts> {
    const relation = this.#table.names.relations.find(({ fieldName }) => fieldName === name);
    const lineage = this.#table.names.lineages.find(({ fieldName }) => fieldName === name);
    const tied = (row: LoadedRow) => {
      if (lineage) return [...evaluateLineage(lineage, row).keys()];
      return rowsOf(target).filter((other) => areTied(relation!, row, other));
    };
    const verdicts: Verdicts[] = [];
    if (relation?.kind === 'to-one') {
      const { is, ...filter } = value;
      const hasTest = is !== undefined && type.getFields().is?.type.toString() === 'FilterIs';
      if (hasTest && is === null) throw new RefusalError('"is" takes no null');
      if (hasTest) verdicts.push(this.#each((row) => tied(row).length > 0 === (is === 'NOT_NULL')));
      const inner = await new FilterEvaluator(target, type, this.#oracle).judge(hasTest ? filter : value);
      if (inner) verdicts.push(this.#each((row) => tied(row).some((other) => inner.get(other) === true)));
      return this.#join(verdicts, all);
    }
    const filterType = getNullableType(type.getFields().some!.type) as GraphQLInputObjectType;
    const evaluator = new FilterEvaluator(target, filterType, this.#oracle);
    const isLost = (filter: unknown, inner: Verdicts) => inner === undefined && filter !== null && evaluator.hasLostConditions(filter);
    const { where = null, count = null } = value;
    for (const [quantifier, filter] of Object.entries(value)) {
      if (filter === null || quantifier === 'where' || quantifier === 'count') continue;
      const inner = await evaluator.judge(filter);
      if (isLost(filter, inner)) continue;
      const matches = (other: LoadedRow) => inner === undefined || inner.get(other) === true;
      if (quantifier === 'some') verdicts.push(this.#each((row) => tied(row).some(matches)));
      else if (quantifier === 'none') verdicts.push(this.#each((row) => !tied(row).some(matches)));
      else verdicts.push(this.#each((row) => tied(row).every(matches)));
    }
    const counted = await evaluator.judge(where);
    const tests = isLost(where, counted) ? [] : Object.entries((count ?? {}) as FilterValue);
    if (where !== null && count === null) throw new RefusalError('"where" without "count"');
    const sizes = rowsOf(this.#table).map((row) => String(tied(row).filter((other) => !counted || counted.get(other) === true).length));
    for (const [operator, operand] of tests) {
      const truths = await this.#compare(sizes, integerType, operator, operand);
      verdicts.push(new Map(rowsOf(this.#table).map((row, index) => [row, truths[index]!])));
    }
    return this.#join(verdicts, all);
  }

  #each(judge: (row: LoadedRow) => Truth): Verdicts {
    return new Map(rowsOf(this.#table).map((row) => [row, judge(row)]));
  }

  #join(verdicts: readonly Verdicts[], combine: (truths: readonly Truth[]) => Truth): Verdicts {
    const present = verdicts.filter((each) => each !== undefined);
    return present.length > 0 ? this.#each((row) => combine(present.map((each) => each.get(row)!))) : undefined;
  }
}

/** The table whose rows a filter of related rows is about. */
function relatedTable({ tables }: World, typeName: string): LoadedTable | undefined {
  return tables.find(({ names }) => [tableTypeName(names, 'FilterToOne'), tableTypeName(names, 'FilterToMany')].includes(typeName));
}

const operators: Readonly<Record<string, string>> = {
  eq: '=',
  neq: '<>',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  like: 'like',
  ilike: 'ilike',
  startsWith: '^@',
  regex: '~',
  iregex: '~*',
  contains: '@>',
  containedBy: '<@',
  overlaps: '&&',
};

/** Of networks, containment has symbols of its own. */
const networkTypes = ['inet', 'cidr'];
const networkOperators: Readonly<Record<string, string>> = { contains: '>>=', containedBy: '<<=' };

/** Whether filters with the operator can be judged here. */
export function isEvaluated(operator: string): boolean {
  return operator in operators || ['is', 'in', 'notIn', 'endsWith', 'containsText', 'eqi', 'inI'].includes(operator);
}

/** The text of an input value as PostgreSQL reads it. */
export function inputText(world: World, type: ColumnType, value: unknown): string {
  if (Array.isArray(value) || type.isArray) {
    return arrayText((Array.isArray(value) ? value : [value]).map((item) => (item === null ? null : labelOf(world, type, item))));
  }
  return labelOf(world, type, value);
}

/** Of two labels with one name the first has it. */
function labelOf(world: World, type: ColumnType, value: unknown): string {
  const names = valueNames(world, type);
  return type.enum?.labels.find((label) => (names.get(label) ?? label) === value) ?? String(value);
}

/** A comparison that needs no PostgreSQL; undefined where it does. */
function ownComparison(world: World, type: ColumnType, operator: string, operand: unknown): ((text: string) => boolean) | undefined {
  if (type.isArray) return undefined;
  const order = ownOrder(type);
  if (!order) return undefined;
  const other = inputText(world, type, operand);
  switch (operator) {
    case 'eq':
      return (text) => order(text, other) === 0;
    case 'neq':
      return (text) => order(text, other) !== 0;
    case 'lt':
      return (text) => order(text, other) < 0;
    case 'lte':
      return (text) => order(text, other) <= 0;
    case 'gt':
      return (text) => order(text, other) > 0;
    case 'gte':
      return (text) => order(text, other) >= 0;
    default:
      return ownMatch(type, operator, other);
  }
}

/** The blanks at the end of a char(n) are significant in patterns: PostgreSQL knows how. */
function ownMatch({ sql }: ColumnType, operator: string, other: string): ((text: string) => boolean) | undefined {
  if (sql.startsWith('character(')) return undefined;
  if (operator === 'startsWith') return (text) => text.startsWith(other);
  if (operator === 'endsWith') return (text) => text.endsWith(other);
  if (operator === 'containsText') return (text) => text.includes(other);
  if (operator !== 'like') return undefined;
  const pattern = likePattern(other);
  return (text) => pattern.test(text);
}

function ownOrder({ sql, scalar }: ColumnType): ((a: string, b: string) => number) | undefined {
  if (['smallint', 'integer', 'bigint'].includes(sql)) return (a, b) => (BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0);
  if (sql === 'boolean') return compareBytes;
  // A char(n) is compared without the blanks at its end, which its text does not have.
  if (sql.startsWith('character(')) return (a, b) => compareBytes(a.replace(/ +$/, ''), b.replace(/ +$/, ''));
  if (scalar === 'UUID') return (a, b) => compareBytes(a, b.toLowerCase());
  return ['String', 'enum'].includes(scalar) ? compareBytes : undefined;
}

/** The order of locale C. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function likePattern(pattern: string): RegExp {
  const parts = [...pattern.matchAll(/\\(.)|[\s\S]/gsu)].map(([part, escaped]) => {
    if (part === '%') return '[\\s\\S]*';
    if (part === '_') return '[\\s\\S]';
    return (escaped ?? part).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 'u');
}
