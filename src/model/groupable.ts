/** What rows can be grouped by: columns whose values PostgreSQL can tell apart and put in order, and those of the rows that they belong to. */
import type { Column, Relation, Table } from './model.ts';

/** Types of pg_catalog that are shown as they are, and have no order. */
const withoutOrder: ReadonlySet<string> = new Set(
  'aclitem box cid circle gtsvector jsonpath line lseg path pg_snapshot point polygon refcursor txid_snapshot xid xml'.split(' '),
);

/** Whether it is an ordered scalar or an enum, and the role may read it. */
export function isGroupable({ type, orderable, selectable }: Column): boolean {
  if (!selectable || !orderable) return false;
  return type.kind === 'enum' || (type.kind === 'scalar' && !withoutOrder.has(type.sqlType));
}

/** Whether the rows of a table can be grouped. */
export function hasGroups({ aggregate, additions, columns }: Table): boolean {
  return aggregate && additions.has('groups') && columns.some(isGroupable);
}

/** Whether rows can be grouped by ranges of its values. */
export function hasBuckets(column: Column): boolean {
  const { type } = column;
  return isGroupable(column) && type.kind === 'scalar' && ['Int', 'BigInt', 'BigFloat', 'Float'].includes(type.scalar);
}

/** The relations to rows by whose columns rows can be grouped. */
export function groupableRelations({ relations }: Table): readonly Relation[] {
  return relations.filter(({ kind, target }) => kind === 'to-one' && target.additions.has('groups') && target.columns.some(isGroupable));
}

/** Which percentile of groups is meant, beside the columns in conditions and orders; a column of that name is left out there. */
export const fractionMember = 'fraction';

/** Whether a table has a column of that name that has percentiles. */
export function clashesWithFraction({ columns, additions }: Table): boolean {
  const hasPercentiles = ({ type }: Column): boolean =>
    type.kind === 'scalar' && ['Int', 'BigInt', 'BigFloat', 'Float', 'Date', 'Datetime'].includes(type.scalar);
  return (
    additions.has('moreAggregates') &&
    columns.some((column) => column.selectable && column.fieldName === fractionMember && hasPercentiles(column))
  );
}

/** Where the columns are that rows are grouped by ranges of; a column or relation of that name is in the way. */
export const bucketMember = 'bucket';

/** Whether a table has a column or relation in the way of its buckets. */
export function clashesWithBuckets(table: Table): boolean {
  return (
    table.columns.some((column) => isGroupable(column) && column.rowFieldName === bucketMember) ||
    groupableRelations(table).some(({ fieldName }) => fieldName === bucketMember)
  );
}
