/** Infers which columns are unique in the rows of `union`, `intersect` and `except`, in which nulls are equal, as in `distinct`. */
import { firstOwnId, isConstant, typeOf } from './expressions.ts';
import { asNode, asNodes, flagIn, numberIn, numbersIn, type TreeNode } from './parse-node-tree.ts';
import { type ColumnOrigin, type KeyColumn, type Operators, type RowProperties, unsuitable } from './row-properties.ts';

const operations: Readonly<Record<number, 'union' | 'intersect' | 'except'>> = { 1: 'union', 2: 'intersect', 3: 'except' };

/** A column of the result, as both sides are cast to it and compared. */
interface ResultColumn {
  readonly type: number;
  readonly modifier: number;
  readonly collation: number;
  readonly operator: number;
}

/** One of the queries, or the result of several. */
interface Side {
  readonly properties: RowProperties;
  /** Of its columns, which PostgreSQL casts to those of the result. */
  readonly types: readonly number[];
  /** Of its columns, which are constants other than null. */
  readonly constants: readonly boolean[];
}

/** The properties of a tree of operations. `propertiesOf` has those of an entry of the range table. */
export function combineProperties(
  tree: TreeNode,
  entries: readonly TreeNode[],
  propertiesOf: (entry: TreeNode) => RowProperties,
  operators: Operators,
): RowProperties {
  const sideOf = (node: TreeNode | undefined): Side => {
    if (node?.type === 'RANGETBLREF') {
      const entry = entries[numberIn(node, 'rtindex') - 1]!;
      const shown = shownExpressions(asNode(entry.fields.get('subquery')));
      return {
        properties: propertiesOf(entry),
        types: shown.map(typeOf),
        constants: shown.map((one) => one !== undefined && isConstant(one)),
      };
    }
    if (node?.type !== 'SETOPERATIONSTMT') throw new Error('it combines queries in an unknown way');
    const [left, right] = [sideOf(asNode(node.fields.get('larg'))), sideOf(asNode(node.fields.get('rarg')))];
    return { properties: combineSides(node, left, right, operators), types: numbersIn(node, 'colTypes'), constants: [] };
  };
  return sideOf(tree).properties;
}

function shownExpressions(query: TreeNode | undefined): readonly (TreeNode | undefined)[] {
  const shown = asNodes(query?.fields.get('targetList')).filter((entry) => !flagIn(entry, 'resjunk'));
  return shown.map((entry) => asNode(entry.fields.get('expr')));
}

function combineSides(node: TreeNode, left: Side, right: Side, operators: Operators): RowProperties {
  const operation = operations[numberIn(node, 'op')];
  if (operation === undefined) throw new Error('it combines queries in an unknown way');
  const columns = resultColumns(node);
  // No two rows are equal in what tells the rows of these sides from each other.
  const sides = { union: [], intersect: [left, right], except: [left] }[operation];
  const isStable = columns.map((column, index) => [left, right].every((side) => isStableIn(side, column, index, operators)));
  const isNeverNull = columns.map((_, index) => {
    const isOf = ({ properties, constants }: Side): boolean =>
      isStable[index]! && (constants[index] === true || properties.isNeverNull(index + 1));
    return operation === 'union' ? isOf(left) && isOf(right) : sides.some(isOf);
  });
  const origins = columns.map((column, index): ColumnOrigin | null =>
    operation === 'union' || !isKeptIn(left, column, index, operators) ? null : left.properties.originOf(index + 1),
  );
  const constants = columns.map((column, index) => {
    const [one, other] = [constantsIn(left, column, index), constantsIn(right, column, index)];
    return operation === 'union' ? one && other && new Set([...one, ...other]) : one;
  });
  const whole = flagIn(node, 'all') ? null : wholeRow(columns, isNeverNull, isStable, operators);
  const kept = sides.map((side) => keptColumns(side, columns, operators));
  const told = operation === 'union' ? toldApart(left, right, columns, isNeverNull, isStable, operators) : null;
  const key = kept.find((side) => side.key !== null)?.key ?? whole?.key ?? told;
  return {
    key,
    unique: [...kept.flatMap(({ unique }) => unique), ...(whole?.unique ?? []), ...(told === null ? [] : [told])],
    single: sides.some(({ properties }) => properties.single),
    isSummary: false,
    originOf: (column) => origins[column - 1] ?? null,
    isNeverNull: (column) => isNeverNull[column - 1] ?? false,
    isStable: (column) => isStable[column - 1] ?? false,
    constantsOf: (column) => constants[column - 1] ?? null,
    problem: key === null ? (whole?.problem ?? problemOfAll[operation]) : null,
  };
}

const problemOfAll = {
  union: 'it combines queries with union all, whose rows may be equal unless each shows a key, and a constant of its own in one column',
  intersect: 'it combines queries with intersect all, whose rows may be equal',
  except: 'it combines queries with except all, whose rows may be equal',
};

function resultColumns(node: TreeNode): readonly ResultColumn[] {
  const [modifiers, collations] = [numbersIn(node, 'colTypmods'), numbersIn(node, 'colCollations')];
  // `union all` compares nothing.
  const clauses = asNodes(node.fields.get('groupClauses'));
  return numbersIn(node, 'colTypes').map((type, index) => {
    const clause = clauses[index];
    return { type, modifier: modifiers[index]!, collation: collations[index]!, operator: clause ? numberIn(clause, 'eqop') : 0 };
  });
}

/** PostgreSQL's own casts have the same result each time, unlike those of users. */
function isStableIn(side: Side, column: ResultColumn, index: number, operators: Operators): boolean {
  const own = operators.baseOf(side.types[index]!);
  const isCastByPostgres = own > 0 && own < firstOwnId && column.type < firstOwnId;
  return side.properties.isStable(index + 1) && (isKeptIn(side, column, index, operators) || isCastByPostgres);
}

/** Of `smallint`, `integer` and `bigint`, which become the widest. */
const integerFamily = 1976;

/** Whether PostgreSQL shows its values as they are. */
function isKeptIn({ types }: Side, { type }: ResultColumn, index: number, { baseOf }: Operators): boolean {
  return types[index] === type || (types[index]! > 0 && baseOf(types[index]!) === baseOf(type));
}

/** What tells the rows of a side from each other, of columns whose values stay different, and compared as there. */
function keptColumns(side: Side, columns: readonly ResultColumn[], operators: Operators): Pick<RowProperties, 'key' | 'unique'> {
  const { key, unique } = side.properties;
  const isKept = ({ column, family, collation }: KeyColumn): boolean => {
    const own = columns[column - 1];
    if (own === undefined || own.collation !== collation) return false;
    const isWidened = [side.types[column - 1]!, own.type].every((type) => operators.familyOfType(type) === integerFamily);
    if (!isWidened && !isKeptIn(side, own, column - 1, operators)) return false;
    return own.operator === 0 || (operators.isEquality(own.operator, family) && operators.isExact(own.operator, own));
  };
  return { key: key?.every(isKept) ? key : null, unique: unique.filter((set) => set.every(isKept)) };
}

function constantsIn({ properties, types }: Side, { type }: ResultColumn, index: number): ReadonlySet<string> | null {
  return types[index] === type ? properties.constantsOf(index + 1) : null;
}

/** A column that tells by its constants of which side a row is, with what tells the rows of each side from each other. */
function toldApart(
  left: Side,
  right: Side,
  columns: readonly ResultColumn[],
  isNeverNull: readonly boolean[],
  isStable: readonly boolean[],
  operators: Operators,
): readonly KeyColumn[] | null {
  const keys = [left, right].map((side) => (side.properties.single ? [] : keptColumns(side, columns, operators).key));
  const place = columns.findIndex((column, index) => {
    const [one, other] = [constantsIn(left, column, index), constantsIn(right, column, index)];
    return one && other && ![...one].some((constant) => other.has(constant)) && operators.isExactType(column.type, column.collation);
  });
  const side = columns[place];
  if (side === undefined) return null;
  const told: KeyColumn = { column: place + 1, family: operators.familyOfType(side.type) ?? 0, collation: side.collation };
  const ofBoth = new Map<number, KeyColumn>([[told.column, told]]);
  for (const key of keys) {
    if (key === null || !key.every(({ column }) => isStable[column - 1])) return null;
    for (const one of key) ofBoth.set(one.column, one);
  }
  return [...ofBoth.values()]
    .sort((one, other) => one.column - other.column)
    .map(({ column, family, collation }) => ({ column, family, collation, ...(!isNeverNull[column - 1] && { mayBeNull: true }) }));
}

/** All columns, or why they are no key. */
function wholeRow(
  columns: readonly ResultColumn[],
  isNeverNull: readonly boolean[],
  isStable: readonly boolean[],
  operators: Operators,
): Pick<RowProperties, 'key' | 'unique' | 'problem'> {
  const all = columns.flatMap(({ operator, collation }, index): KeyColumn[] => {
    const family = operators.familyOf(operator);
    return family === undefined ? [] : [{ column: index + 1, family, collation, ...(!isNeverNull[index] && { mayBeNull: true }) }];
  });
  if (all.length < columns.length || all.length === 0)
    return { key: null, unique: [], problem: 'it combines queries by a column that rows cannot be ordered by' };
  const isExact = columns.every((column) => operators.isExact(column.operator, column));
  const reason = isStable.every(Boolean) ? (isExact ? null : unsuitable.inexact) : unsuitable.unstable;
  return { key: reason === null ? all : null, unique: [all], problem: reason && `it combines queries by ${reason}` };
}
