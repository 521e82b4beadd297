/**
 * What an insert or update with related rows does, as plain data: steps in the order in which they run, each a statement. A step leaves the keys of its rows
 * for later ones, under the label of the input that they come from.
 */
import type { Column, Table } from '../model/model.ts';
import type { InputPath } from './input-path.ts';
import type { Assignment, ConflictPlan, Filter, Member, Parameter, ParameterValue, ResponseValue, ValueUse } from './plan.ts';

export interface NestedWritePlan {
  readonly kind: 'nested write';
  readonly verb: 'insert' | 'update';
  readonly table: Table;
  readonly steps: readonly NestedStep[];
  /** The primary keys of what the root field wrote. */
  readonly written: KeyList;
  readonly members: readonly Member<ResponseValue>[];
}

/** Keys of rows, each with the label of an input: in an update, an input may stand for several rows. */
export interface KeyList {
  readonly number: number;
  /** Where the rows are. */
  readonly table: Table;
  /** The columns of which values are kept, as PostgreSQL calls them; more are added while the steps are planned. */
  readonly columns: string[];
  /** The label of each row, in their order, where a single step writes them all; null where only the statements know. */
  labels: readonly number[] | null;
}

export type NestedStep = InsertStep | FindStep | AttachStep | LockStep | UpdateStep | DeleteStep;

interface StepBase {
  readonly table: Table;
  /** The path of its inputs as text, without indexes where there are several; and that of each, in the order of their rows. */
  readonly place: string;
  readonly paths: readonly InputPath[];
}

/** Inserts a row for each of the source. */
export interface InsertStep extends StepBase {
  readonly kind: 'insert';
  readonly source: RowSource;
  readonly onConflict: ConflictPlan | null;
  /** Whether rows may be left out: where nothing has to be known of each. */
  readonly lenient: boolean;
  readonly into: KeyList | null;
  readonly appends: boolean;
}

/** Finds the row of each input by columns that are given: all outputs of the source. */
export interface FindStep extends StepBase {
  readonly kind: 'find';
  readonly source: RowSource;
  readonly into: KeyList;
  readonly appends: boolean;
}

/** Finds rows, and makes them refer to others. */
export interface AttachStep extends StepBase {
  readonly kind: 'attach';
  readonly source: RowSource;
  /** By which outputs of the source rows are found, and which are written to them. */
  readonly match: readonly number[];
  readonly set: readonly number[];
}

/** Selects rows that stay as they are, so that nobody changes them meanwhile. */
export interface LockStep extends StepBase {
  readonly kind: 'lock';
  readonly rows: WrittenRows;
  readonly into: KeyList;
}

export interface UpdateStep extends StepBase {
  readonly kind: 'update';
  readonly rows: WrittenRows;
  readonly set: readonly Assignment[];
  readonly increment: readonly Assignment[];
  readonly nulled: readonly Column[];
  /** Columns that take values of the only row of a list. */
  readonly taken: readonly { readonly column: Column; readonly from: KeyList; readonly of: string }[];
  readonly into: KeyList | null;
}

export interface DeleteStep extends StepBase {
  readonly kind: 'delete';
  readonly rows: WrittenRows;
}

/** Which rows of a table: those that match the filter, and belong to rows of a list. */
export interface WrittenRows {
  readonly of: { readonly list: KeyList; readonly pairs: readonly KeyPair[] } | null;
  /** Those in this list are left out. */
  readonly except: KeyList | null;
  readonly filter: Filter | null;
  readonly atMost: Parameter | null;
}

/** A column of a table, as PostgreSQL calls it, and the one of a list that it equals, whose values are of this type. */
export interface KeyPair {
  readonly name: string;
  readonly type: Column['type'];
  readonly of: string;
}

/** Rows that inputs give. */
export interface RowSource {
  /** Of each row, in their order. */
  readonly labels: readonly number[];
  /** The rows that they belong to, and the label of that of each row. */
  readonly parents: { readonly list: KeyList; readonly labels: readonly number[] } | null;
  /** There are rows only if this list has any. */
  readonly onlyIf: KeyList | null;
  readonly joins: readonly KeyJoin[];
  readonly outputs: readonly Output[];
  /** Pairs of outputs, by their numbers, that must have equal values. */
  readonly same: readonly (readonly [number, number])[];
}

/** Keys by the label of the row; `optional`: not every row has them. */
export interface KeyJoin {
  readonly list: KeyList;
  readonly optional: boolean;
}

export interface Output {
  readonly column: Column;
  readonly from:
    | { readonly kind: 'given'; readonly values: readonly ParameterValue[]; readonly use: ValueUse }
    /** A column of the parents, or of the join of this number. */
    | { readonly kind: 'key'; readonly join: 'parents' | number; readonly of: string };
}

/** Makes a list keep the values of a column. */
export function keepIn({ columns }: KeyList, column: string): void {
  if (!columns.includes(column)) columns.push(column);
}

/** Notes that a step leaves the keys of its rows in a list: one for each input, unless `lenient`; and whether `appends`, behind those of other steps. */
export function fill(
  list: KeyList,
  { labels, parents, onlyIf }: RowSource,
  { appends, lenient }: Pick<InsertStep, 'appends' | 'lenient'>,
): void {
  const isOneEach = !lenient && onlyIf === null && parents?.list.labels !== null;
  list.labels = isOneEach && !appends ? labels : null;
}
