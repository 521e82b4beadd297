/** The plan of a nested write: steps in execution order, each a statement. A step stores the keys of its rows for later steps. */
import type { InputPath } from '../errors/input-path.ts';
import type { Column, ColumnPair, Table } from '../model/model.ts';
import type { Filter } from './conditions.ts';
import type { Parameter, ParameterValue, ValueUse } from './parameter.ts';
import type { Assignment, ConflictPlan, JsonChange, Member, ResponseValue } from './plan.ts';

export interface NestedWritePlan {
  readonly kind: 'nested write';
  readonly verb: 'insert' | 'update';
  readonly table: Table;
  readonly steps: readonly NestedStep[];
  readonly lists: readonly KeyList[];
  /** The primary keys of the rows that the root field wrote. */
  readonly written: KeyList;
  readonly members: readonly Member<ResponseValue>[];
}

/**
 * Keys of rows, each with the label of its input. In an update, one input may stand for several rows. Several steps may store keys in the
 * same list.
 */
export interface KeyList {
  /** Unique in an operation. */
  readonly number: number;
  readonly table: Table;
}

export type NestedStep = InsertStep | FindStep | AttachStep | LockStep | UpdateStep | DeleteStep;

interface StepBase {
  readonly table: Table;
  /** The path of each of its inputs, in row order. */
  readonly paths: readonly InputPath[];
}

export interface InsertStep extends StepBase {
  readonly kind: 'insert';
  readonly inputRows: InputRows;
  readonly onConflict: ConflictPlan | null;
  /** Whether a conflict may skip rows, because nothing depends on each being written. */
  readonly lenient: boolean;
  readonly into: KeyList | null;
}

/** Finds existing rows by the values of all outputs of the input rows. */
export interface FindStep extends StepBase {
  readonly kind: 'find';
  readonly inputRows: InputRows;
  /** Whether the rows were inserted unless they existed, so that only a policy or a trigger can keep one from being found. */
  readonly ensured: boolean;
  readonly into: KeyList;
}

/** Finds existing rows and sets their foreign keys. */
export interface AttachStep extends StepBase {
  readonly kind: 'attach';
  readonly inputRows: InputRows;
  /** As of `FindStep`. */
  readonly ensured: boolean;
  /** The outputs that identify the rows, and those to write. */
  readonly match: readonly number[];
  readonly set: readonly number[];
}

/** Locks rows that stay unchanged, so that no other transaction changes them meanwhile. */
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
  readonly json: readonly JsonChange[];
  readonly nulled: readonly Column[];
  /** Columns set to values of the only row of a list. */
  readonly fromKeys: readonly { readonly column: Column; readonly from: KeyList; readonly of: string }[];
  readonly into: KeyList | null;
}

export interface DeleteStep extends StepBase {
  readonly kind: 'delete';
  readonly rows: WrittenRows;
}

/** The rows to write: those that match the filter and refer to rows of a list, or are referred to by them. */
export interface WrittenRows {
  readonly of: { readonly list: KeyList; readonly pairs: readonly KeyPair[] } | null;
  readonly except: KeyList | null;
  readonly filter: Filter | null;
  readonly atMost: Parameter | null;
}

/** A column of the table, and the column of the list that it equals. `type` is that of their values. */
export interface KeyPair {
  readonly name: string;
  readonly type: Column['type'];
  readonly of: string;
  readonly collation: ColumnPair['collation'];
}

/** The rows of some inputs. */
export interface InputRows {
  /** The label of each row, in order. */
  readonly labels: readonly number[];
  /** The rows that they belong to, with the label of each one's parent. */
  readonly parents: { readonly list: KeyList; readonly labels: readonly number[] } | null;
  /** If set, there are rows only if this list has any. */
  readonly onlyIf: KeyList | null;
  readonly joins: readonly KeyJoin[];
  readonly outputs: readonly Output[];
  /** Pairs of outputs, by index, that must have equal values. */
  readonly same: readonly (readonly [number, number])[];
}

/** Keys joined by label. `optional` if not every row has one. */
export interface KeyJoin {
  readonly list: KeyList;
  readonly optional: boolean;
}

export interface Output {
  readonly column: Column;
  readonly from: /** `field`: the name of the input field of a key, which differs from that of its column. */
    | { readonly kind: 'input'; readonly values: readonly ParameterValue[]; readonly use: ValueUse; readonly field: string | null }
    /** A column of the parents, or of the join with this index. */
    | { readonly kind: 'key'; readonly join: 'parents' | number; readonly of: string };
}
