/**
 * What an operation must read, write or call, as a tree of plain data that `compile/` turns into SQL.
 */
import type { Column, Relation, Routine, RoutineArgument, Table, ValueType } from '../model/model.ts';
import type { BindValue } from '../request/input-value.ts';
import type { AggregateFunction } from '../schema/bindings.ts';

export interface Plan {
  readonly kind: 'query' | 'mutation';
  readonly roots: readonly RootPlan[];
}

/** A root field: its key in the response and what it asks for. */
export interface RootPlan {
  readonly key: string;
  readonly value: RootValue;
}
export type RootValue = TypeNamePlan | IntrospectionPlan | ConnectionPlan | LookupPlan | MutationPlan | RoutinePlan;

/** `__typename`: known without the database. */
export interface TypeNamePlan {
  readonly kind: 'type name';
  readonly name: string;
}

/** `__schema` or `__type`: answered from the schema. */
export interface IntrospectionPlan {
  readonly kind: 'introspection';
}

/** A member of an object of the response. `name` is the field's own name, for the key where no alias is given. */
export interface Member<Value> {
  readonly key: string;
  readonly name: string;
  readonly value: Value;
}

/** At most one row, by its key. */
export interface LookupPlan {
  readonly kind: 'lookup';
  readonly table: Table;
  readonly key: readonly { readonly column: Column; readonly parameter: Parameter }[];
  readonly row: RowPlan;
}

/** What is read of one row. */
export interface RowPlan {
  readonly table: Table;
  readonly members: readonly Member<RowValue>[];
}

export type RowValue =
  | TypeNamePlan
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'node id' }
  | { readonly kind: 'to-one'; readonly relation: Relation; readonly row: RowPlan }
  | { readonly kind: 'to-many'; readonly relation: Relation; readonly connection: ConnectionPlan }
  | { readonly kind: 'computed'; readonly routine: Routine; readonly result: ResultPlan }
  | { readonly kind: 'row column'; readonly column: Column; readonly list: boolean; readonly row: RowPlan };

/** What is read of the result of a function. */
export type ResultPlan =
  | { readonly kind: 'value'; readonly type: ValueType }
  | { readonly kind: 'void' }
  | { readonly kind: 'row'; readonly row: RowPlan }
  | { readonly kind: 'rows'; readonly connection: ConnectionPlan };

/** A page of a collection and what is asked of it. */
export interface ConnectionPlan {
  readonly kind: 'connection';
  readonly table: Table;
  readonly page: Page;
  readonly filter: Filter | null;
  readonly members: readonly Member<ConnectionValue>[];
}

export type ConnectionValue =
  | TypeNamePlan
  | { readonly kind: 'edges'; readonly members: readonly Member<EdgeValue>[] }
  | { readonly kind: 'page info'; readonly members: readonly Member<PageInfoValue>[] }
  | { readonly kind: 'total count' }
  | { readonly kind: 'aggregate'; readonly members: readonly Member<AggregateValue>[] };
export type EdgeValue = TypeNamePlan | { readonly kind: 'cursor' } | { readonly kind: 'node'; readonly row: RowPlan };
export type PageInfoValue = TypeNamePlan | { readonly kind: 'start cursor' | 'end cursor' | 'has next page' | 'has previous page' };
export type AggregateValue =
  | TypeNamePlan
  | { readonly kind: 'count' }
  | { readonly kind: 'function'; readonly name: AggregateFunction; readonly members: readonly Member<AggregateColumnValue>[] };
export type AggregateColumnValue = TypeNamePlan | { readonly kind: 'column'; readonly column: Column };

/** Which rows of a collection: counted from its beginning or its end, from a cursor on. */
export interface Page {
  readonly direction: 'forward' | 'backward';
  readonly limit: Count;
  readonly offset: Count | null;
  /** The seek position, with a value for each of the first order keys; null if the row had null. */
  readonly cursor: readonly (Parameter | null)[] | null;
  /** The requested order, completed by the primary key to a total one. A cursor holds a value of each. */
  readonly keys: readonly OrderKey[];
}

/** A number of rows: known, or bound within `maximum`. */
export type Count = number | Parameter;

export interface OrderKey {
  readonly column: Column;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'null test'; readonly column: Column; readonly isNull: boolean }
  | { readonly kind: 'comparison'; readonly column: Column; readonly operator: Operator; readonly parameter: Parameter };

export type Operator =
  | 'eq'
  | 'neq'
  | 'lt'
  | 'lte'
  | 'gt'
  | 'gte'
  | 'in'
  | 'like'
  | 'ilike'
  | 'regex'
  | 'iregex'
  | 'startsWith'
  | 'contains'
  | 'containedBy'
  | 'overlaps';

export type MutationPlan = InsertPlan | UpdatePlan | DeletePlan;

export interface InsertPlan {
  readonly kind: 'insert';
  readonly table: Table;
  readonly columns: readonly Column[];
  /** A value for each of the columns; null if the row takes the default. */
  readonly rows: readonly (readonly (Parameter | null)[])[];
  readonly members: readonly Member<ResponseValue>[];
}
export interface UpdatePlan {
  readonly kind: 'update';
  readonly table: Table;
  readonly set: readonly { readonly column: Column; readonly parameter: Parameter }[];
  readonly filter: Filter | null;
  readonly atMost: Parameter;
  readonly members: readonly Member<ResponseValue>[];
}
export interface DeletePlan {
  readonly kind: 'delete';
  readonly table: Table;
  readonly filter: Filter | null;
  readonly atMost: Parameter;
  readonly members: readonly Member<ResponseValue>[];
}
export type ResponseValue = TypeNamePlan | { readonly kind: 'affected count' } | { readonly kind: 'records'; readonly row: RowPlan };

/** A function called by name. */
export interface RoutinePlan {
  readonly kind: 'routine';
  readonly routine: Routine;
  readonly arguments: readonly { readonly argument: RoutineArgument; readonly parameter: Parameter }[];
  readonly result: ResultPlan;
}

/** A value that is bound when the statement runs, and how it becomes PostgreSQL's text. */
export interface Parameter {
  readonly value: ParameterValue;
  readonly encoding: ParameterEncoding;
}
/** A bind value, or a list of bind values that stands in the document. */
export type ParameterValue = BindValue | { readonly kind: 'list'; readonly items: readonly ParameterValue[] };

export type ParameterEncoding =
  /** As the type tells: enum names become labels, lists array literals; texts are checked by the length of their column. */
  | { readonly kind: 'value'; readonly type: ValueType; readonly use: 'filter' | 'write' }
  /** An element of a cursor or nodeId: text as it is. */
  | { readonly kind: 'text' }
  /** `first`, `last` or `offset`: not negative, and no more than the maximum. */
  | { readonly kind: 'count'; readonly argument: string; readonly maximum: number }
  /** A whole number as it is. */
  | { readonly kind: 'integer' };
