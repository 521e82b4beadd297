/**
 * What each kind of filter is, said once: walks, measures, errors and explanations read it here. Its SQL is `compileFilter`
 * (`compile/compile-filter.ts`).
 */
import type { Table } from '../../model/model.ts';
import type { RelatedRows } from '../../model/relations/related-rows.ts';
import type { Operator } from '../../model/types/operators.ts';
import type { Filter, Test } from '../conditions.ts';
import type { Parameter } from '../parameter.ts';
import { distanceText } from './order-traits.ts';

interface FilterTraits {
  /** The filters in it; `table`, if they are about the rows of another table. */
  readonly inside: readonly Filter[];
  readonly table?: Table;
  /** The rows that it reads. */
  readonly rows?: RelatedRows;
  /** What it compares with the values that it binds. */
  readonly comparisons: readonly BoundComparison[];
  /** How many members it counts as, without those inside. */
  readonly members: number;
  /** How explanations write it. */
  readonly text: (textOf: TextOf) => string;
}

export interface BoundComparison {
  readonly parameters: readonly Parameter[];
  readonly operator?: Operator;
}

type TextOf = (parameter: Parameter) => string;
type Of<Kind extends Filter['kind']> = Extract<Filter, { kind: Kind }>;

export function traitsOfFilter(filter: Filter): FilterTraits {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return ofCombination(filter);
    case 'not':
      return {
        inside: [filter.filter],
        comparisons: [],
        members: 1,
        text: (textOf) => `not ${traitsOfFilter(filter.filter).text(textOf)}`,
      };
    case 'null test':
    case 'comparison':
      return leaf([filter].flatMap(comparisonOf), (textOf) => `${filter.column.name} ${testText(filter, textOf)}`);
    case 'elements':
      return leaf(
        comparisonsIn(filter.filter),
        (textOf) => `${filter.quantifier} of ${filter.column.name} (${traitsOfFilter(filter.filter).text(textOf)})`,
      );
    case 'length':
      return leaf(filter.tests.flatMap(comparisonOf), (textOf) => `length of ${filter.column.name} ${testsText(filter, textOf)}`);
    case 'json test':
      return ofJsonTest(filter);
    case 'attributes': {
      const { quantifier, column, table } = filter;
      const what = quantifier === null ? column.name : `${quantifier} of ${column.name}`;
      const text: FilterTraits['text'] = (textOf) => `${what} (${traitsOfFilter(filter.filter).text(textOf)})`;
      return { inside: [filter.filter], table, comparisons: [], members: 1, text };
    }
    case 'whole null test':
      return leaf([], () => `is ${filter.isNull ? 'null' : 'not null'}`);
    case 'near':
      return leaf(
        [{ parameters: [filter.from, filter.distance] }],
        (textOf) => `${filter.column.name} within ${textOf(filter.distance)} of ${textOf(filter.from)}`,
      );
    case 'range test':
      return leaf([{ parameters: [filter.parameter] }], (textOf) => `${filter.column.name} ${filter.operator} ${textOf(filter.parameter)}`);
    case 'range is empty':
      return leaf([{ parameters: [filter.parameter] }], (textOf) => `${filter.column.name} isEmpty ${textOf(filter.parameter)}`);
    case 'bound':
      return leaf(filter.tests.flatMap(comparisonOf), (textOf) => `${filter.side} of ${filter.column.name} ${testsText(filter, textOf)}`);
    case 'search': {
      const { mode, text } = filter.search;
      return leaf([{ parameters: [text] }], (textOf) => `${mode} search ${textOf(text)}`);
    }
    case 'distance':
      return ofDistance(filter);
    case 'related rows':
      return { ...ofRelated(filter), comparisons: [], members: 1, text: (textOf) => `${filter.quantifier} ${relatedText(filter, textOf)}` };
    case 'related count':
      return {
        ...ofRelated(filter),
        comparisons: filter.tests.flatMap(comparisonOf),
        members: 1 + filter.tests.length,
        text: (textOf) => `count of ${relatedText(filter, textOf)} ${testsText(filter, textOf)}`,
      };
  }
}

function leaf(comparisons: readonly BoundComparison[], text: FilterTraits['text']): FilterTraits {
  return { inside: [], comparisons, members: 1, text };
}

function comparisonsIn(filter: Filter): readonly BoundComparison[] {
  const { comparisons, inside } = traitsOfFilter(filter);
  return [...comparisons, ...inside.flatMap(comparisonsIn)];
}

function ofCombination({ kind, filters }: Of<'and' | 'or'>): FilterTraits {
  const text = (textOf: TextOf): string => `(${filters.map((each) => traitsOfFilter(each).text(textOf)).join(` ${kind} `)})`;
  return { inside: filters, comparisons: [], members: 1, text: filters.length === 0 ? () => String(kind === 'and') : text };
}

function ofJsonTest({ column, operator, parameter, vars }: Of<'json test'>): FilterTraits {
  return leaf(
    [{ parameters: vars ? [parameter, vars] : [parameter] }],
    (textOf) => `${column.name} ${operator} ${textOf(parameter)}${vars ? ` with ${textOf(vars)}` : ''}`,
  );
}

function ofDistance({ distance, within }: Of<'distance'>): FilterTraits {
  const { from } = distance;
  const origin = 'kind' in from ? from.key.map(({ parameter }) => parameter) : [from];
  return leaf(
    [{ parameters: within ? [...origin, within] : origin }],
    (textOf) => `${distanceText(distance, textOf)} ${within ? `lte ${textOf(within)}` : 'is not null'}`,
  );
}

function ofRelated({ rows, filter }: Of<'related rows' | 'related count'>): Pick<FilterTraits, 'inside' | 'table' | 'rows'> {
  return { inside: filter ? [filter] : [], table: rows.target, rows };
}

function relatedText({ rows, filter }: Of<'related rows' | 'related count'>, textOf: TextOf): string {
  return `${rows.fieldName}${filter ? ` (${traitsOfFilter(filter).text(textOf)})` : ''}`;
}

function testsText({ tests }: { readonly tests: readonly Test[] }, textOf: TextOf): string {
  return tests.map((test) => testText(test, textOf)).join(' and ');
}

function testText(test: Test, textOf: TextOf): string {
  return test.kind === 'null test' ? `is ${test.isNull ? 'null' : 'not null'}` : `${test.operator} ${textOf(test.parameter)}`;
}

export function comparisonOf(test: Test): readonly BoundComparison[] {
  return test.kind === 'comparison' ? [{ parameters: [test.parameter], operator: test.operator }] : [];
}
