/** The plan of an operation: what to read, write or call, as a tree of plain data that `compile/` turns into SQL. */
import type { Arbiter, Column, ColumnShape, Lineage, Relation, Table } from '../model/model.ts';
import type { Routine, RoutineArgument } from '../model/routine.ts';
import type { AggregateFunction } from '../model/types/postgres-types.ts';
import type { ScalarType, ValueType } from '../model/value-type.ts';
import type { Distance, Filter, JsonPathValue, OrderKey, RowKey, Search, Test } from './conditions.ts';
import type { NestedWritePlan } from './nested-write-plan.ts';
import type { Count, Parameter } from './parameter.ts';

export type Plan =
  | { readonly kind: 'query'; readonly roots: readonly RootPlan<QueryRoot>[] }
  | { readonly kind: 'mutation'; readonly roots: readonly RootPlan<MutationRoot>[] };

export interface RootPlan<Value = RootValue> {
  readonly key: string;
  readonly value: Value;
}
export type QueryRoot = QueryValue | IntrospectionPlan;
export type MutationRoot = TypeNamePlan | MutationPlan | RoutinePlan | NestedWritePlan;
export type RootValue = QueryRoot | MutationRoot;

/** `__typename`, which is known without the database. */
export interface TypeNamePlan {
  readonly kind: 'type name';
  readonly name: string;
}

/** `__schema` or `__type`, which are answered from the schema. */
export interface IntrospectionPlan {
  readonly kind: 'introspection';
}

/** A member of a response object. `name` is the name of the field, which `key` equals unless there is an alias. */
export interface Member<Value> {
  readonly key: string;
  readonly name: string;
  readonly value: Value;
}

/** A lookup of at most one row by its key. */
export interface LookupPlan {
  readonly kind: 'lookup';
  readonly table: Table;
  readonly key: RowKey;
  /** Columns of the key that are null. */
  readonly nulls: readonly Column[];
  readonly row: RowPlan;
}

export interface RowPlan {
  readonly table: Table;
  readonly members: readonly Member<RowValue>[];
}

export type RowValue =
  | TypeNamePlan
  | { readonly kind: 'column'; readonly column: Column }
  /** What is at a path of a JSON column: a list of keys and positions. */
  | { readonly kind: 'json part'; readonly column: Column; readonly path: Parameter }
  | BoundsPlan
  | { readonly kind: 'node id' }
  /** How well the row matches the search that found it; null if none did, and where only the distance of a fusion did. */
  | { readonly kind: 'search rank'; readonly search: Search | null; readonly mayBeNull: boolean }
  | SnippetPlan
  | { readonly kind: 'to-one'; readonly relation: Relation; readonly row: RowPlan }
  | { readonly kind: 'to-many'; readonly relation: Relation; readonly connection: ConnectionPlan }
  | LineagePlan
  | { readonly kind: 'computed'; readonly routine: Routine; readonly arguments: readonly RoutineInput[]; readonly result: ResultPlan }
  | { readonly kind: 'row column'; readonly column: Column; readonly list: boolean; readonly row: RowPlan };

/** The rows above or below a row, up to a distance. */
export interface LineagePlan {
  readonly kind: 'lineage';
  readonly lineage: Lineage;
  readonly maxDepth: Count;
  readonly connection: ConnectionPlan;
}

/** A column of a range, or of several, as an object with bounds, or a list of objects. */
interface BoundsPlan extends Omit<BoundsOfType, 'type'> {
  readonly column: Column;
}
export interface BoundsOfType {
  readonly kind: 'bounds';
  readonly type: ValueType;
  readonly members: readonly Member<RangeValue>[];
}
export type RangeValue = TypeNamePlan | { readonly kind: 'lower' | 'upper' | 'lower inclusive' | 'upper inclusive' | 'is empty' };

/** Where a column has the words of the search, as HTML. */
export interface SnippetPlan {
  readonly kind: 'search snippet';
  readonly search: Search | null;
  readonly column: Column;
  /** What is around each word that was found; null for the default. */
  readonly start: Parameter | null;
  readonly stop: Parameter | null;
  /** The most words; null for the default. */
  readonly words: Count | null;
}

export type ResultPlan =
  | { readonly kind: 'value'; readonly type: ValueType }
  | BoundsOfType
  | { readonly kind: 'void' }
  | { readonly kind: 'row' | 'row list'; readonly row: RowPlan }
  | { readonly kind: 'rows'; readonly connection: ConnectionPlan }
  /** A page of a list. */
  | ({ readonly kind: 'value set'; readonly type: ValueType } & ListPage)
  | ({ readonly kind: 'row set'; readonly row: RowPlan } & ListPage);

export interface ListPage {
  readonly limit: Count;
  readonly offset: Count | null;
}

/** A page of a collection and what to read from it. */
export interface ConnectionPlan {
  readonly kind: 'connection';
  readonly table: Table;
  readonly page: Page;
  readonly filter: Filter | null;
  readonly distinct: DistinctPlan | null;
  /** What finds the rows instead of `filter`. */
  readonly fusion: FusionPlan | null;
  readonly members: readonly Member<ConnectionValue>[];
  /** Whether it is a stream: a bare list of its edges, with the cursor of the last. */
  readonly isStream?: true;
}

/**
 * Rows that are first in one of several orders. The score of a row is the sum of `weight / (k + place)` over the orders in which it is among
 * the first `depth`.
 */
export interface FusionPlan {
  readonly legs: readonly FusionLeg[];
  readonly k: Count;
}
export interface FusionLeg {
  /** How many rows are among the first. */
  readonly depth: Count;
  readonly filter: Filter;
  /** Completed by the primary key. */
  readonly keys: readonly OrderKey[];
  /** A number that is not negative; null for 1. */
  readonly weight: Parameter | null;
}

/** Of the rows with equal values of `keys`, which are columns, only the first in `order` is in the collection. */
export interface DistinctPlan {
  readonly keys: readonly OrderKey[];
  /** The keys, then the rest of the requested order, completed by the primary key. */
  readonly order: readonly OrderKey[];
}

/** A count of a whole table that may be PostgreSQL's estimate, unless the variable `exact` says otherwise. */
export interface CountEstimate {
  readonly exact: Parameter | null;
}

export type ConnectionValue =
  | TypeNamePlan
  | { readonly kind: 'edges'; readonly members: readonly Member<EdgeValue>[] }
  | { readonly kind: 'page info'; readonly members: readonly Member<PageInfoValue>[] }
  | { readonly kind: 'total count'; readonly estimate: CountEstimate | null }
  | { readonly kind: 'aggregate'; readonly members: readonly Member<AggregateValue>[] }
  | { readonly kind: 'groups'; readonly groups: GroupsPlan };
export type EdgeValue =
  | TypeNamePlan
  | { readonly kind: 'cursor' | 'score' }
  /** Null if no distance was asked for. */
  | { readonly kind: 'distance'; readonly distance: Distance | null }
  /** How far the row is from the one that the collection is of; null if that is no lineage. */
  | { readonly kind: 'depth'; readonly lineage: Lineage | null }
  | { readonly kind: 'node'; readonly row: RowPlan };
export type PageInfoValue = TypeNamePlan | { readonly kind: 'start cursor' | 'end cursor' | 'has next page' | 'has previous page' };
export type AggregateValue =
  | TypeNamePlan
  | { readonly kind: 'count' }
  | { readonly kind: 'function'; readonly name: AggregateFunction; readonly members: readonly Member<AggregateColumnValue>[] };
export type AggregateColumnValue = TypeNamePlan | (AggregatedColumn & { readonly kind: 'column' });

export interface AggregatedColumn {
  readonly name: AggregateFunction;
  readonly column: Column;
  /** For a percentile, a number from 0 to 1. */
  readonly fraction: Parameter | null;
}

/** Groups of all rows that match a connection's filter. */
export interface GroupsPlan {
  /** At least one. */
  readonly by: readonly GroupBy[];
  readonly having: GroupCondition | null;
  /** The requested order, completed by the keys to a total order. */
  readonly order: readonly GroupOrderKey[];
  readonly limit: Count;
  readonly offset: Count | null;
  readonly members: readonly Member<GroupValue>[];
}

/** A column of the rows, or of the related row at the end of `path`, with how its values form groups. */
export type GroupBy = GroupPlace & { readonly column: Column } & GroupedBy;
/** The relations that lead to a row, and the columns from it whose members lead to a value. */
export interface GroupPlace {
  readonly path: readonly Relation[];
  readonly within: readonly Column[];
}
export type GroupedBy =
  | { readonly kind: 'value' }
  /** A unit of `date_trunc`, in the given time zone or that of the session. */
  | { readonly kind: 'truncated'; readonly unit: string; readonly timeZone: Parameter | null }
  | { readonly kind: 'bucket'; readonly width: Parameter }
  | ({ readonly kind: 'json value' } & JsonPathValue);

export type GroupValue = AggregateValue | { readonly kind: 'key'; readonly members: readonly Member<GroupKeyValue>[] };
export type GroupKeyValue =
  | TypeNamePlan
  | { readonly kind: 'grouped'; readonly number: number }
  | { readonly kind: 'not grouped' }
  /** The keys of a related row, or in a composite value. */
  | { readonly kind: 'inside'; readonly members: readonly Member<GroupKeyValue>[] };

export type GroupAggregate = { readonly kind: 'count' } | (AggregatedColumn & { readonly kind: 'function' });
export type GroupCondition =
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly GroupCondition[] }
  | { readonly kind: 'not'; readonly condition: GroupCondition }
  /** `type` is what the aggregate is compared as. */
  | (Test & { readonly of: GroupAggregate; readonly type: ScalarType });

export interface GroupOrderKey {
  readonly of: GroupAggregate | { readonly kind: 'key'; readonly number: number };
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** The rows of a page: counted from the start or the end of a collection, after or before a cursor. */
export interface Page {
  readonly direction: 'forward' | 'backward';
  readonly limit: Count;
  readonly offset: Count | null;
  /** The cursor's values for the first order keys; an element is null if the row had null. */
  readonly cursor: readonly (Parameter | null)[] | null;
  /**
   * The requested order, completed by the primary key to a total order; for distinct rows, their keys. A cursor has a value for each key.
   */
  readonly keys: readonly OrderKey[];
}

export type MutationPlan = InsertPlan | UpdatePlan | DeletePlan;

/** What a statement that writes has to answer. */
interface Answered {
  /**
   * Whether a statement of its own reads the answer behind the write, because it needs more than the written or returned rows: a statement
   * sees everything else as it was before it.
   */
  readonly readsAfter: boolean;
}

export interface InsertPlan extends Answered {
  readonly kind: 'insert';
  readonly table: Table;
  readonly columns: readonly Column[];
  /** A value for each column; null for the default. */
  readonly rows: readonly (readonly (Parameter | null)[])[];
  readonly onConflict: ConflictPlan | null;
  readonly members: readonly Member<ResponseValue>[];
}

/** What to do with a conflicting row. Without columns and increments it stays unchanged. */
export interface ConflictPlan {
  readonly arbiter: Arbiter;
  /** The columns set to the values of the row that was to be inserted. */
  readonly columns: readonly Column[];
  readonly increment: readonly Assignment[];
  /** The rows to update; others stay unchanged. */
  readonly filter: Filter | null;
}

export interface Assignment {
  readonly column: Column;
  readonly parameter: Parameter;
}

/** Changes of a part of a JSON column. */
export type JsonChange = { readonly column: Column } & (
  | JsonParts
  /** Members of its shape to set, or, if that is a list, elements to append. */
  | { readonly kind: 'members'; readonly shape: ColumnShape; readonly members: Parameter }
);
/** In this order. */
export interface JsonParts {
  readonly kind: 'parts';
  readonly merge: Parameter | null;
  readonly remove: readonly Parameter[];
  /** A value that is null is JSON's null. */
  readonly set: readonly { readonly path: Parameter; readonly value: Parameter | null }[];
}

export interface UpdatePlan extends Answered {
  readonly kind: 'update';
  readonly table: Table;
  readonly set: readonly Assignment[];
  /** Amounts to add to columns that are not in `set`. */
  readonly increment: readonly Assignment[];
  /** Changes of columns that are not in `set`. */
  readonly json: readonly JsonChange[];
  readonly filter: Filter | null;
  readonly atMost: Parameter;
  readonly members: readonly Member<ResponseValue>[];
}
export interface DeletePlan extends Answered {
  readonly kind: 'delete';
  readonly table: Table;
  readonly filter: Filter | null;
  readonly atMost: Parameter;
  readonly members: readonly Member<ResponseValue>[];
}
export type ResponseValue =
  | TypeNamePlan
  | { readonly kind: 'affected count' }
  | { readonly kind: 'records'; readonly row: RowPlan }
  /** The records, as edges of a collection in this order. */
  | { readonly kind: 'edges'; readonly keys: readonly OrderKey[]; readonly members: readonly Member<EdgeValue>[] }
  | { readonly kind: 'query'; readonly members: readonly Member<QueryValue>[] };

/** A field of Query that reads data, or `__typename`. */
export type QueryValue = TypeNamePlan | ConnectionPlan | LookupPlan | RoutinePlan;

export interface RoutineInput {
  readonly argument: RoutineArgument;
  readonly parameter: Parameter;
}

export interface RoutinePlan extends Answered {
  readonly kind: 'routine';
  readonly routine: Routine;
  readonly arguments: readonly RoutineInput[];
  readonly result: ResultPlan;
}
