/** Filters and orders of rows, and what they compare: the parts of a plan that say which rows, and in which order. */
import type { Column, Lineage, MeasuredColumn, Table, TableSearch } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { Routine } from '../model/routine.ts';
import type { Metric } from '../model/types/metrics.ts';
import type { JsonValueType } from '../model/types/named-types.ts';
import type { JsonOperator, Operator, RangeOperator } from '../model/types/operators.ts';
import type { OrderAggregate } from '../model/types/postgres-types.ts';
import type { ListType } from '../model/value-type.ts';
import type { Parameter } from './parameter.ts';

/** A full-text search of the rows of a table. */
export interface Search {
  readonly by: TableSearch;
  readonly mode: 'websearch' | 'plain' | 'phrase' | 'prefix' | 'similar';
  /** By which its text is read, as SQL; null for PostgreSQL's setting. */
  readonly config: string | null;
  readonly text: Parameter;
}

/** What is at a path of JSON, as a value of a type; null if there is none. */
export interface JsonPathValue {
  readonly keys: Parameter;
  readonly as: JsonValueType;
}

export interface OrderKey {
  readonly value: OrderValue;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** What a row is ordered by. */
export type OrderValue =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'computed'; readonly routine: Routine }
  | ({ readonly kind: 'json value'; readonly column: Column } & JsonPathValue)
  /** A value of the type `table` that the column has. */
  | { readonly kind: 'attribute'; readonly column: Column; readonly table: Table; readonly value: OrderValue }
  /** Null where only the distance of a fusion found the row. */
  | { readonly kind: 'search rank'; readonly search: Search; readonly mayBeNull: boolean }
  | { readonly kind: 'distance'; readonly distance: Distance }
  /** That of the fusion which found the rows of the table. */
  | { readonly kind: 'score'; readonly table: Table }
  /** The distance in a lineage. */
  | { readonly kind: 'depth'; readonly lineage: Lineage }
  /** A value of a related row; null if there is none. */
  | { readonly kind: 'related'; readonly rows: RelatedRows; readonly value: OrderValue }
  | AggregateOrder;

/** The distance of a value from one that the client gives, or from that of a row. */
export interface Distance {
  readonly column: Column;
  readonly measured: MeasuredColumn;
  readonly metric: Metric;
  readonly from: Parameter | { readonly kind: 'row'; readonly table: Table; readonly key: RowKey };
}

export type RowKey = readonly { readonly column: Column; readonly parameter: Parameter }[];

/** The count of related rows, or an aggregate of one of their columns. */
export type AggregateOrder = { readonly kind: 'aggregate'; readonly rows: RelatedRows } & (
  | { readonly function: 'count' }
  | { readonly function: OrderAggregate; readonly column: Column }
);

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  /** Whether the attributes of a composite value match, or those of any or of all elements of an array. `table`: its type. */
  | {
      readonly kind: 'attributes';
      readonly column: Column;
      readonly table: Table;
      readonly quantifier: 'any' | 'all' | null;
      readonly filter: Filter;
    }
  /** Whether the composite value itself, whose attributes a filter is about, is null. */
  | { readonly kind: 'whole null test'; readonly isNull: boolean }
  | ((Test | ArrayTest | JsonTest | RangeTest | NearTest) & { readonly column: Column })
  | { readonly kind: 'search'; readonly search: Search }
  /** Whether there is a distance, and none greater than `within`. */
  | { readonly kind: 'distance'; readonly distance: Distance; readonly within: Parameter | null }
  /** Whether some, every or none of the related rows match; without a filter, whether there are any. */
  | {
      readonly kind: 'related rows';
      readonly rows: RelatedRows;
      readonly quantifier: 'some' | 'every' | 'none';
      readonly filter: Filter | null;
    }
  /** Tests on the number of related rows that match. */
  | { readonly kind: 'related count'; readonly rows: RelatedRows; readonly filter: Filter | null; readonly tests: readonly Test[] };

export type Test =
  | { readonly kind: 'comparison'; readonly operator: Operator; readonly parameter: Parameter }
  | { readonly kind: 'null test'; readonly isNull: boolean };

/** Tests of an array. */
type ArrayTest =
  /** Whether a filter of elements, as a column of that name, holds for any or for all. */
  | { readonly kind: 'elements'; readonly quantifier: 'any' | 'all'; readonly filter: Filter }
  /** The number of elements. */
  | { readonly kind: 'length'; readonly tests: readonly Test[] };

/** Whether a shape is at most so far from another. */
interface NearTest {
  readonly kind: 'near';
  readonly from: Parameter;
  readonly distance: Parameter;
}

/** A test of JSON. `vars` are the variables of a path, as a JSON object. */
export interface JsonTest {
  readonly kind: 'json test';
  readonly operator: JsonOperator;
  readonly parameter: Parameter;
  readonly vars: Parameter | null;
}

/** A test of a range or multirange. */
export type RangeTest =
  | { readonly kind: 'range test'; readonly operator: RangeOperator; readonly parameter: Parameter }
  | { readonly kind: 'range is empty'; readonly parameter: Parameter }
  | { readonly kind: 'bound'; readonly side: 'lower' | 'upper'; readonly type: ElementType; readonly tests: readonly Test[] };

type ElementType = ListType['element'];
