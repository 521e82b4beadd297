/** Which rows a filter lets through, in three-valued logic. */

import {
  type GraphQLInputObjectType,
  type GraphQLNullableInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { integerType } from './column-types.ts';
import { type Comparing, compareValues } from './compare-values.ts';
import { judgeValues } from './evaluate-composites.ts';
import { evaluateLineage } from './evaluate-lineage.ts';
import { isSearchInput, judgeSearch, type SearchInput } from './evaluate-search.ts';
import { keyOf, type LoadedRow, type LoadedTable, nodeIdOf, partOfColumn, rowsOf, valueOfPart, type World } from './loaded-tables.ts';
import { RefusalError } from './property-failure.ts';
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

  get #comparing(): Comparing {
    return { world: this.#table.world, oracle: this.#oracle };
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
    if (isSearchInput(type)) {
      const truths = await judgeSearch(this.#table, value as SearchInput, this.#oracle);
      return new Map(rowsOf(this.#table).map((row, index) => [row, truths[index]!]));
    }
    if (isInputObjectType(type) && type.name === 'IDFilter') return this.#nodeId(value as FilterValue);
    const target = isInputObjectType(type) ? relatedTable(this.#table.world, type.name) : undefined;
    if (target && isInputObjectType(type)) return this.#related(name, target, type, value as FilterValue);
    return this.#column(name, getNamedType(type) as GraphQLInputObjectType, value as FilterValue);
  }

  #nodeId({ eq }: FilterValue): Verdicts {
    if (eq === undefined) return undefined;
    if (eq === null) throw new RefusalError('a nodeId is never null');
    keyOf(this.#table);
    return this.#each((row) => nodeIdOf(row) === eq);
  }

  async #column(field: string, input: GraphQLInputObjectType, operands: FilterValue): Promise<Verdicts> {
    const part = partOfColumn(this.#table, this.#table.names.columns.find(({ filterName }) => filterName === field)!);
    const rows = rowsOf(this.#table);
    const values = rows.map((row) => valueOfPart(row, part));
    const truths = await judgeValues(this.#comparing, values, part.type, input, operands);
    return truths && new Map(rows.map((row, index) => [row, truths[index]!]));
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
      const truths = await compareValues(this.#comparing, sizes, integerType, operator, operand);
      if (truths) verdicts.push(new Map(rowsOf(this.#table).map((row, index) => [row, truths[index]!])));
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
