/** What an expression of a query is: whether it can be null, what it is computed from, by which collation it compares. */
import { asList, asNode, asNodes, flagIn, numberIn, type TreeNode, type TreeValue } from './parse-node-tree.ts';

/** A column of an item. `position` is that of the item in the range table, from 1. */
export interface ColumnReference {
  readonly position: number;
  readonly column: number;
}

/** PostgreSQL's `count(*)` and `count(value)`. */
const counts: readonly number[] = [2803, 2147];
/** Its casts of a count, a bigint, to other numbers: int4, int2, float8, numeric. */
const castsOfCounts: readonly number[] = [480, 714, 482, 1781];

const booleanType = 16;

/** PostgreSQL's own objects have lower ids (FirstNormalObjectId). */
export const firstOwnId = 16384;
/** How a cast that PostgreSQL adds is written: not at all. */
const implicitCast = 2;
/** `coalesce`, before PostgreSQL 16 and since. */
const coalesceTypes: readonly string[] = ['COALESCE', 'COALESCEEXPR'];

/** Whether it is never null, and is the same each time that the same rows are read. */
export function isNeverNull(node: TreeNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.type === 'FUNCEXPR')
    return castsOfCounts.includes(numberIn(node, 'funcid')) && asNodes(node.fields.get('args')).every(isNeverNull);
  if (node.type === 'AGGREF') return counts.includes(numberIn(node, 'aggfnoid')) && isPlainAggregate(node);
  if (!coalesceTypes.includes(node.type)) return false;
  const values = asNodes(node.fields.get('args'));
  return (
    values.some((value) => isConstant(value) || isNeverNull(value)) && values.every((value) => isConstant(value) || isPlainAggregate(value))
  );
}

/** The bytes of a constant; null if it is another expression, or null. */
export function constantOf(node: TreeNode | undefined): string | null {
  const value = node?.type === 'CONST' ? node.fields.get('constvalue') : null;
  return typeof value === 'string' ? value : null;
}

/** Whether it is a constant other than null, possibly as another type. */
export function isConstant(node: TreeNode): boolean {
  if (node.type === 'CONST') return !flagIn(node, 'constisnull');
  if (node.type !== 'FUNCEXPR' || numberIn(node, 'funcformat') !== implicitCast || numberIn(node, 'funcid') >= firstOwnId) return false;
  return asNodes(node.fields.get('args')).every(isConstant);
}

/** Whether it is a built-in aggregate of columns, so that it depends on nothing but the rows. */
function isPlainAggregate(node: TreeNode): boolean {
  if (node.type !== 'AGGREF' || numberIn(node, 'aggfnoid') >= firstOwnId || asNode(node.fields.get('aggfilter')) !== undefined)
    return false;
  return asNodes(node.fields.get('args')).every((entry) => asNode(entry.fields.get('expr'))?.type === 'VAR');
}

/** The labels of an expression's collation and type; those without the latter are boolean. */
interface Labels {
  readonly collation?: string;
  readonly type?: string;
}

const arrayLabels: Labels = { collation: 'array_collid', type: 'array_typeid' };
const rowLabels: Labels = { type: 'row_typeid' };
const caseLabels: Labels = { collation: 'casecollid', type: 'casetype' };
const coalesceLabels: Labels = { collation: 'coalescecollid', type: 'coalescetype' };
const minMaxLabels: Labels = { collation: 'minmaxcollid', type: 'minmaxtype' };

/** The expressions that add nothing to the values that they are computed from. */
const plainExpressions: Readonly<Record<string, Labels>> = {
  VAR: { collation: 'varcollid', type: 'vartype' },
  CONST: { collation: 'constcollid', type: 'consttype' },
  FUNCEXPR: { collation: 'funccollid', type: 'funcresulttype' },
  OPEXPR: { collation: 'opcollid', type: 'opresulttype' },
  NULLIFEXPR: { collation: 'opcollid', type: 'opresulttype' },
  DISTINCTEXPR: {},
  SCALARARRAYOPEXPR: {},
  BOOLEXPR: {},
  NULLTEST: {},
  BOOLEANTEST: {},
  RELABELTYPE: { collation: 'resultcollid', type: 'resulttype' },
  COERCEVIAIO: { collation: 'resultcollid', type: 'resulttype' },
  CASETESTEXPR: { collation: 'collation', type: 'typeId' },
  AGGREF: { collation: 'aggcollid', type: 'aggtype' },
  // Those of aggregates.
  ...{ TARGETENTRY: {}, SORTGROUPCLAUSE: {} },
  SUBSCRIPTINGREF: { collation: 'refcollid', type: 'refrestype' },
  FIELDSELECT: { collation: 'resultcollid', type: 'resulttype' },
  COERCETODOMAIN: { collation: 'resultcollid', type: 'resulttype' },
  ARRAYCOERCEEXPR: { collation: 'resultcollid', type: 'resulttype' },
  // Of several nodes, PostgreSQL 16 changed the names.
  ...{ COLLATE: { collation: 'collOid' }, COLLATEEXPR: { collation: 'collOid' } },
  ...{ ARRAY: arrayLabels, ARRAYEXPR: arrayLabels, ROW: rowLabels, ROWEXPR: rowLabels },
  ...{ CASE: caseLabels, CASEEXPR: caseLabels, WHEN: {}, CASEWHEN: {} },
  ...{ COALESCE: coalesceLabels, COALESCEEXPR: coalesceLabels, MINMAX: minMaxLabels, MINMAXEXPR: minMaxLabels },
};

export function collationOf(node: TreeNode | undefined): number {
  const label = node && plainExpressions[node.type]?.collation;
  return label === undefined ? 0 : numberIn(node!, label);
}

/** The id of its type; 0 if it is not a plain expression. */
export function typeOf(node: TreeNode | undefined): number {
  const labels = node && plainExpressions[node.type];
  if (labels === undefined) return 0;
  if (labels.collation === 'collOid') return typeOf(asNode(node!.fields.get('arg')));
  return labels.type === undefined ? booleanType : numberIn(node!, labels.type);
}

/** The columns that an expression reads; null if it may have another value each time that the same rows are read. */
export function readsOf(
  node: TreeNode | undefined,
  columnOf: (variable: TreeNode) => ColumnReference | null,
  volatileFunctions: ReadonlySet<number>,
): readonly ColumnReference[] | null {
  const found: ColumnReference[] = [];
  const waiting: (TreeValue | undefined)[] = [node];
  while (waiting.length > 0) {
    const value = waiting.pop();
    const inner = asNode(value);
    if (inner === undefined) waiting.push(...asList(value));
    else if (!(inner.type in plainExpressions) || callsOther(inner, volatileFunctions)) return null;
    else if (inner.type !== 'VAR') waiting.push(...inner.fields.values());
    else {
      const column = columnOf(inner);
      if (column === null) return null;
      found.push(column);
    }
  }
  return found;
}

/** Whether it calls a function that is volatile, or that is not PostgreSQL's own: then nothing is known of it. */
function callsOther(node: TreeNode, volatileFunctions: ReadonlySet<number>): boolean {
  if (node.type === 'AGGREF') return !isPlainAggregate(node) || volatileFunctions.has(numberIn(node, 'aggfnoid'));
  const id = node.fields.get('funcid') ?? node.fields.get('opfuncid');
  return id !== undefined && (Number(id) >= firstOwnId || volatileFunctions.has(Number(id)));
}
