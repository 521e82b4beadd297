/**
 * The related rows that filters and orders of a table can reach, by relations or computed fields, and those that cannot be used because a
 * column has their name.
 */
import type { Lineage, Relation, Table } from '../model.ts';
import type { Routine } from '../routine.ts';
import { isOrdered } from '../tables/column-uses.ts';
import { identifies } from '../types/named-types.ts';
import type { ValueType } from '../value-type.ts';

/** The rows on the other side of a foreign key, those that a computed field returns, or those of a lineage. */
export interface RelatedRows {
  /** The name of the field, in rows and filters alike. */
  readonly fieldName: string;
  readonly many: boolean;
  readonly target: Table;
  readonly by:
    | { readonly kind: 'relation'; readonly relation: Relation }
    | { readonly kind: 'computed'; readonly routine: Routine }
    | { readonly kind: 'lineage'; readonly lineage: Lineage };
}

/** Related rows that can be used, and those that cannot because a column or a combinator has their name. */
interface ReachableRows {
  readonly usable: readonly RelatedRows[];
  readonly clashing: readonly RelatedRows[];
}

const combinators = ['and', 'or', 'not'];

export function filterableRows(table: Table, nodeIdField: string): ReachableRows {
  return withoutNames([...relatedRowsOf(table), ...lineageRows(table)], takenNames(table, 'filter', nodeIdField));
}

/** The names that related rows give way to in filters or in orders of a table. */
export function takenNames(table: Table, at: 'filter' | 'order', nodeIdField: string): ReadonlySet<string> {
  if (at === 'filter') return new Set([nodeIdField, ...combinators, ...namesOf(table)]);
  return new Set(table.columns.filter((column) => isOrdered(column, table)).map(({ fieldName }) => fieldName));
}

/** What rows can be ordered by besides columns: related rows, and computed fields whose values have an order. */
interface OrderableFields {
  readonly rows: readonly RelatedRows[];
  readonly values: readonly Routine[];
  readonly clashing: readonly string[];
}

export function orderableFields(table: Table): OrderableFields {
  const names = takenNames(table, 'order', '');
  const isFree = ({ fieldName }: { readonly fieldName: string }) => !names.has(fieldName);
  const rows = relatedRowsOf(table);
  const values = table.computed.filter(
    ({ result, volatile, arguments: args }) => !volatile && args.length === 0 && result.kind === 'value' && hasOrder(result.type),
  );
  const clashing = [...rows, ...values].filter((field) => !isFree(field)).map(({ fieldName }) => fieldName);
  return { rows: rows.filter(isFree), values: values.filter(isFree), clashing };
}

/** Opaque types may lack an order. */
function hasOrder(type: ValueType): boolean {
  return type.kind === 'enum' || identifies(type);
}

function namesOf({ columns }: Table): string[] {
  return columns.filter(({ selectable }) => selectable).map(({ filterName }) => filterName);
}

/** Whether filters of a table have a column named `is`, which takes precedence over the test for presence. */
export function hasColumnNamedIs(table: Table): boolean {
  return namesOf(table).includes('is');
}

/** All related rows. Volatile functions are left out, because PostgreSQL may call a function in a filter any number of times. */
function relatedRowsOf({ relations, computed }: Table): RelatedRows[] {
  const byKey = relations
    .filter(({ onlyInRows }) => !onlyInRows)
    .map((relation): RelatedRows => {
      const { fieldName, kind, target } = relation;
      return { fieldName, many: kind === 'to-many', target, by: { kind: 'relation', relation } };
    });
  const byFunction = computed.flatMap((routine): RelatedRows[] => {
    const { fieldName, result, volatile } = routine;
    if (volatile || routine.arguments.length > 0 || (result.kind !== 'row' && result.kind !== 'rows')) return [];
    // Rows without a key have neither filters nor orders.
    if (result.table.primaryKey.length === 0) return [];
    return [{ fieldName, many: result.kind === 'rows', target: result.table, by: { kind: 'computed', routine } }];
  });
  return [...byKey, ...byFunction];
}

/** Rows are not ordered by them, as that would take all of them for each row. */
function lineageRows(table: Table): RelatedRows[] {
  return table.lineages.map((lineage) => ({ fieldName: lineage.fieldName, many: true, target: table, by: { kind: 'lineage', lineage } }));
}

function withoutNames(rows: readonly RelatedRows[], claimed: ReadonlySet<string>): ReachableRows {
  return {
    usable: rows.filter(({ fieldName }) => !claimed.has(fieldName)),
    clashing: rows.filter(({ fieldName }) => claimed.has(fieldName)),
  };
}

const byTarget = new WeakMap<Table, ReadonlyMap<Table, readonly Relation[]>>();

/** The relations from one table to another, found without a look at all relations of a table that thousands of others refer to. */
export function relationsTo(table: Table, target: Table): readonly Relation[] {
  const found = byTarget.get(table) ?? Map.groupBy(table.relations, (relation) => relation.target);
  byTarget.set(table, found);
  return found.get(target) ?? [];
}
