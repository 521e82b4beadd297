/**
 * The rows of other tables that a row leads to, by a relation or by a computed field: what filters and orders reach beyond their table. In: a table of
 * the model; out: its related rows, with those whose names columns have already, which give way.
 */
import type { Relation, Routine, Table, ValueType } from './model.ts';

/** Rows that belong to a row: those on the other side of a foreign key, or what a computed field returns. */
export interface RelatedRows {
  /** The name of the field, which is their name in filters too. */
  readonly fieldName: string;
  readonly many: boolean;
  readonly target: Table;
  readonly by: { readonly kind: 'relation'; readonly relation: Relation } | { readonly kind: 'computed'; readonly routine: Routine };
}

/** What is reachable by its name, and what is not because a column or a combinator has it. */
export interface ReachableRows {
  readonly usable: readonly RelatedRows[];
  readonly clashing: readonly RelatedRows[];
}

const combinators = ['and', 'or', 'not'];

/** The related rows in the filters of a table. */
export function filterableRows(table: Table, nodeIdField: string): ReachableRows {
  return withoutNames(relatedRowsOf(table), [nodeIdField, ...combinators, ...namesOf(table)]);
}

/** What the rows of a table can be ordered by beside its columns: related rows, and computed fields whose values have an order. */
export interface OrderableFields {
  readonly rows: readonly RelatedRows[];
  readonly values: readonly Routine[];
  /** The names of those that give way to columns. */
  readonly clashing: readonly string[];
}

/** The same for the orders of a table. */
export function orderableFields(table: Table): OrderableFields {
  const names = new Set(table.columns.filter(({ selectable, orderable }) => selectable && orderable).map(({ fieldName }) => fieldName));
  const isFree = ({ fieldName }: { readonly fieldName: string }) => !names.has(fieldName);
  const rows = relatedRowsOf(table);
  const values = table.computed.filter(({ result, volatile }) => !volatile && result.kind === 'value' && hasOrder(result.type));
  const clashing = [...rows, ...values].filter((field) => !isFree(field)).map(({ fieldName }) => fieldName);
  return { rows: rows.filter(isFree), values: values.filter(isFree), clashing };
}

/** Opaque types need not have one. */
function hasOrder(type: ValueType): boolean {
  return type.kind === 'enum' || (type.kind === 'scalar' && type.scalar !== 'JSON' && type.scalar !== 'Opaque');
}

/** The names of a table's columns in its filters. */
function namesOf({ columns }: Table): string[] {
  return columns.filter(({ selectable }) => selectable).map(({ filterName }) => filterName);
}

/** Whether the filter of a row has a column named `is`, so that the test of its presence gives way. */
export function hasColumnNamedIs(table: Table): boolean {
  return namesOf(table).includes('is');
}

/** All rows that are related to a row. A volatile function is left out: a filter would call it as often as PostgreSQL likes. */
function relatedRowsOf({ relations, computed }: Table): RelatedRows[] {
  const byKey = relations.map((relation): RelatedRows => {
    const { fieldName, kind, target } = relation;
    return { fieldName, many: kind === 'to-many', target, by: { kind: 'relation', relation } };
  });
  const byFunction = computed.flatMap((routine): RelatedRows[] => {
    const { fieldName, result, volatile } = routine;
    if (volatile || (result.kind !== 'row' && result.kind !== 'rows')) return [];
    // Rows without a key have neither filters nor orders.
    if (result.table.primaryKey.length === 0) return [];
    return [{ fieldName, many: result.kind === 'rows', target: result.table, by: { kind: 'computed', routine } }];
  });
  return [...byKey, ...byFunction];
}

function withoutNames(rows: readonly RelatedRows[], names: readonly string[]): ReachableRows {
  const taken = new Set(names);
  return {
    usable: rows.filter(({ fieldName }) => !taken.has(fieldName)),
    clashing: rows.filter(({ fieldName }) => taken.has(fieldName)),
  };
}
