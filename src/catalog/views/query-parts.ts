/**
 * Reads the parts of a `select` that determine its rows from PostgreSQL's query node: the items of its FROM clause, which columns are
 * equal, and its outputs.
 */
import { type ColumnReference, collationOf, constantOf, isNeverNull, readsOf } from './expressions.ts';
import { asList, asNode, asNodes, flagIn, numberIn, type TreeNode, type TreeValue } from './parse-node-tree.ts';

/** An item of the FROM clause: a table, a view, a subquery. */
export interface QueryItem {
  readonly position: number;
  readonly entry: TreeNode;
  /** Whether an outer join may fill its columns with nulls. */
  readonly nullable: boolean;
  /** The items on whose rows it depends whether an outer join does so. */
  readonly nulledBy: ReadonlySet<number>;
}

/** A condition that a column equals another one or a constant. */
export interface Equality {
  readonly operator: number;
  readonly collation: number;
  readonly column: ColumnReference;
  readonly other: ColumnReference | null;
  /** The items whose rows the condition restricts; null for all. The condition of an outer join does not restrict its preserved side. */
  readonly positions: ReadonlySet<number> | null;
}

export interface QueryParts {
  readonly items: readonly QueryItem[];
  readonly equalities: readonly Equality[];
  /** Columns that all rows were tested to have values in (`where … is not null`). */
  readonly notNull: readonly ColumnReference[];
  readonly outputs: readonly QueryOutput[];
}

export interface QueryOutput {
  readonly column: ColumnReference | null;
  /**
   * The columns that it is computed from, by nothing but operators and built-in functions that are not volatile; null if by anything else,
   * so that its values may be others each time.
   */
  readonly reads: readonly ColumnReference[] | null;
  /** Its collation; 0 if it has none. */
  readonly collation: number;
  /** The column's type modifier: negative if its type has none, such as a length. */
  readonly modifier: number;
  readonly isConstant: boolean;
  /** Of a constant other than null. */
  readonly constant: string | null;
  /** Whether it is an expression that is never null, and is the same each time that the same rows are read. */
  readonly neverNull: boolean;
  /** The reference that `group by` and `distinct` use; 0 if they do not. */
  readonly reference: number;
  /** Whether it exists only for these clauses. */
  readonly hidden: boolean;
}

const joinKinds = { inner: 0, left: 1, full: 2, right: 3 };
const entryKinds = { join: 2, group: 9 };
const isNotNullTest = 1;

/** Reads a query. Throws an `Error` for a tree that PostgreSQL would not write. */
export function readQueryParts(query: TreeNode, volatileFunctions: ReadonlySet<number>): QueryParts {
  const reader = new Reader(asNodes(query.fields.get('rtable')), volatileFunctions);
  reader.join(asNode(query.fields.get('jointree')), false);
  const outputs = asNodes(query.fields.get('targetList')).map((entry): QueryOutput => {
    const expression = reader.ungrouped(asNode(entry.fields.get('expr')));
    const column = reader.columnOf(expression);
    return {
      column,
      reads: readsOf(expression, (node) => reader.columnOf(node), volatileFunctions),
      collation: collationOf(expression),
      modifier: column === null ? -1 : numberIn(expression!, 'vartypmod'),
      isConstant: expression?.type === 'CONST',
      constant: constantOf(expression),
      neverNull: isNeverNull(expression),
      reference: numberIn(entry, 'ressortgroupref'),
      hidden: entry.fields.get('resjunk') === 'true',
    };
  });
  return { items: reader.items, equalities: reader.equalities, notNull: reader.notNull, outputs };
}

class Reader {
  readonly items: (QueryItem & { readonly nulledBy: Set<number> })[] = [];
  readonly equalities: Equality[] = [];
  readonly notNull: ColumnReference[] = [];
  readonly #entries: readonly TreeNode[];
  readonly #volatileFunctions: ReadonlySet<number>;

  constructor(entries: readonly TreeNode[], volatileFunctions: ReadonlySet<number>) {
    this.#entries = entries;
    this.#volatileFunctions = volatileFunctions;
  }

  /** Collects the items and conditions of a part of the FROM clause. Returns the positions of its items. */
  join(node: TreeNode | undefined, nullable: boolean): readonly number[] {
    switch (node?.type) {
      case 'RANGETBLREF': {
        const position = numberIn(node, 'rtindex');
        this.items.push({ position, entry: this.#entries[position - 1]!, nullable, nulledBy: new Set() });
        return [position];
      }
      case 'FROMEXPR': {
        const positions = asNodes(node.fields.get('fromlist')).flatMap((part) => this.join(part, nullable));
        this.#addConditions(node.fields.get('quals'), null);
        return positions;
      }
      case 'JOINEXPR':
        return this.#joinTwo(node, nullable);
      default:
        throw new Error('the from clause holds an unknown node');
    }
  }

  #joinTwo(node: TreeNode, nullable: boolean): readonly number[] {
    const kind = numberIn(node, 'jointype');
    const fills = (side: number): boolean => kind !== joinKinds.inner && kind !== side;
    const left = this.join(asNode(node.fields.get('larg')), nullable || fills(joinKinds.left));
    const right = this.join(asNode(node.fields.get('rarg')), nullable || fills(joinKinds.right));
    const narrowed = new Map([
      [joinKinds.inner, null],
      [joinKinds.left, new Set(right)],
      [joinKinds.right, new Set(left)],
    ]).get(kind);
    // The condition of a full join restricts neither side.
    if (narrowed !== undefined) this.#addConditions(node.fields.get('quals'), narrowed);
    if (fills(joinKinds.left)) this.#addNulledBy(left, right, node);
    if (fills(joinKinds.right)) this.#addNulledBy(right, left, node);
    return [...left, ...right];
  }

  /** An outer join fills one side where its condition, which reads the other side, finds no row. */
  #addNulledBy(filled: readonly number[], preserved: readonly number[], join: TreeNode): void {
    const reads = readsOf(asNode(join.fields.get('quals')), (node) => this.columnOf(node), this.#volatileFunctions);
    const isFull = numberIn(join, 'jointype') === joinKinds.full;
    const dependsOnRows = isFull || filled.some((position) => flagIn(this.#entries[position - 1]!, 'lateral'));
    const by = reads === null || dependsOnRows ? preserved : reads.map(({ position }) => position).filter((one) => preserved.includes(one));
    for (const item of this.items) if (filled.includes(item.position)) for (const position of by) item.nulledBy.add(position);
  }

  #addConditions(value: TreeValue | undefined, positions: ReadonlySet<number> | null): void {
    const conditions = [asNode(value)];
    for (let node = conditions.pop(); node !== undefined; node = conditions.pop()) {
      if (node.type === 'BOOLEXPR' && node.fields.get('boolop') === 'and') conditions.push(...asNodes(node.fields.get('args')));
      else if (node.type === 'OPEXPR') this.#addEquality(node, positions);
      else if (node.type === 'NULLTEST' && positions === null) this.#addNullTest(node);
    }
  }

  #addNullTest(node: TreeNode): void {
    const column = numberIn(node, 'nulltesttype') === isNotNullTest ? this.columnOf(asNode(node.fields.get('arg'))) : null;
    if (column !== null) this.notNull.push(column);
  }

  /** Collects any operator. Whether it means equality is decided later. */
  #addEquality(node: TreeNode, positions: ReadonlySet<number> | null): void {
    const [left, right] = asList(node.fields.get('args')).map((argument) => this.#operand(asNode(argument)));
    const [operator, collation] = [numberIn(node, 'opno'), numberIn(node, 'inputcollid')];
    if (!left || !right) return;
    if (left !== 'constant')
      this.equalities.push({ operator, collation, column: left, other: right === 'constant' ? null : right, positions });
    if (right !== 'constant')
      this.equalities.push({ operator, collation, column: right, other: left === 'constant' ? null : left, positions });
  }

  #operand(node: TreeNode | undefined): ColumnReference | 'constant' | null {
    // A cast that keeps the value, such as from varchar to text.
    const plain = node?.type === 'RELABELTYPE' ? asNode(node.fields.get('arg')) : node;
    return plain?.type === 'CONST' ? 'constant' : this.columnOf(plain);
  }

  /** The expression that an output of PostgreSQL 18 stands for if rows are grouped by it; other expressions as they are. */
  ungrouped(node: TreeNode | undefined): TreeNode | undefined {
    const entry = node?.type === 'VAR' && numberIn(node, 'varlevelsup') === 0 ? this.#entries[numberIn(node, 'varno') - 1] : undefined;
    if (entry === undefined || numberIn(entry, 'rtekind') !== entryKinds.group) return node;
    return asNode(asList(entry.fields.get('groupexprs'))[numberIn(node!, 'varattno') - 1]);
  }

  /** The column of an item that an expression refers to, seen through the aliases of joins and groups. */
  columnOf(node: TreeNode | undefined): ColumnReference | null {
    if (node?.type !== 'VAR' || numberIn(node, 'varlevelsup') !== 0) return null;
    const [position, column] = [numberIn(node, 'varno'), numberIn(node, 'varattno')];
    const entry = this.#entries[position - 1];
    if (entry === undefined || column <= 0) return null;
    const kind = numberIn(entry, 'rtekind');
    if (kind === entryKinds.join) return this.columnOf(asNode(asList(entry.fields.get('joinaliasvars'))[column - 1]));
    if (kind === entryKinds.group) return this.columnOf(asNode(asList(entry.fields.get('groupexprs'))[column - 1]));
    return { position, column };
  }
}
