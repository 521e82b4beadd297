/**
 * The relations that nested inserts and updates of a table can write, and what the role may do with the related rows. For the addition
 * `nestedWrites`.
 */
import type { Column, Relation, Table } from '../model.ts';
import { isNamed } from '../tables/type-access.ts';
import { relationsTo } from './related-rows.ts';

/** Operations on related rows, in execution order. */
export const nestedVerbs = ['delete', 'disconnect', 'update', 'set', 'connect', 'connectOrCreate', 'create'] as const;
export type NestedVerb = (typeof nestedVerbs)[number];

export interface WritableRelation {
  readonly relation: Relation;
  /** The columns of the foreign key, in its order, in the referencing table. */
  readonly key: readonly Column[];
  /** The columns to set to null to disconnect a row; empty if that is impossible. */
  readonly nulled: readonly Column[];
  readonly insert: ReadonlySet<NestedVerb>;
  readonly update: ReadonlySet<NestedVerb>;
}

/** The relations, and the names of those that cannot be used because a column has the same name. */
interface WritableRelations {
  readonly usable: readonly WritableRelation[];
  readonly byTarget: ReadonlyMap<Table, readonly WritableRelation[]>;
  readonly clashing: readonly string[];
}

const none: WritableRelations = { usable: [], byTarget: new Map(), clashing: [] };
const cache = new WeakMap<Table, WritableRelations>();
/** The writable relations of a table. The role must be able to read its primary key, by which rows are found after they are written. */
export function writableRelations(table: Table): WritableRelations {
  const found = cache.get(table) ?? findRelations(table);
  cache.set(table, found);
  return found;
}

function findRelations(table: Table): WritableRelations {
  if (!table.additions.has('nestedWrites') || !isKeyReadable(table)) return none;
  const usable: WritableRelation[] = [];
  const clashing: string[] = [];
  const names = new Set(table.columns.filter(({ insertable, updatable }) => insertable || updatable).map(({ fieldName }) => fieldName));
  for (const relation of table.relations) {
    if (relation.onlyInRows || relation.sameRow || !isNameable(relation)) continue;
    const writable = relation.holdsKey ? outgoing(table, relation) : incoming(relation);
    if (writable === null || writable.insert.size + writable.update.size === 0) continue;
    if (names.has(relation.fieldName)) clashing.push(relation.fieldName);
    else usable.push(writable);
  }
  return { usable, byTarget: Map.groupBy(usable, ({ relation }) => relation.target), clashing };
}

/** Whether a nested write can fill in a foreign key column, so that an insert need not give it. */
export function isFilledByRelation(table: Table, column: Column): boolean {
  return table.relations.some((relation) => {
    if (!relation.holdsKey || !relation.columns.some(({ near }) => near === column.name)) return false;
    const back = relationsTo(relation.target, table).find((other) => isInverse(relation, other));
    return isUsable(table, relation) || (back !== undefined && isUsable(relation.target, back));
  });
}

function isUsable(table: Table, relation: Relation): boolean {
  return (writableRelations(table).byTarget.get(relation.target) ?? []).some(
    (usable) => usable.relation === relation && usable.insert.size > 0,
  );
}

function isInverse(relation: Relation, other: Relation): boolean {
  if (other.holdsKey || other.columns.length !== relation.columns.length) return false;
  return other.columns.every(
    ({ near, target }, index) => near === relation.columns[index]!.target && target === relation.columns[index]!.near,
  );
}

function isKeyReadable({ primaryKey, selectable }: Table): boolean {
  return selectable && primaryKey.length > 0 && primaryKey.every((column) => column.selectable && isNamed(column.type));
}

function isNameable({ columns }: Relation): boolean {
  return columns.every(({ nearType, targetType }) => isNamed(nearType) && isNamed(targetType));
}

/** `near` has the foreign key. Relations use only columns that the role may read. */
function outgoing(near: Table, relation: Relation): WritableRelation | null {
  const { target } = relation;
  const key = columnsOf(near, relation, 'near');
  if (key === null || !target.selectable) return null;
  const nulled = nulledOf(key);
  const written = [
    ...verbs('connect', target.uniqueKeys.length > 0),
    ...verbs('connectOrCreate', target.insertable && isKeyReadable(target) && target.arbiters.length > 0),
    ...verbs('create', target.insertable && isKeyReadable(target)),
  ];
  const insert = key.every(({ insertable }) => insertable) && near.insertable ? written : [];
  const canUpdate = near.updatable;
  const targetKey = columnsOf(target, relation, 'target');
  const update = [
    ...(canUpdate && key.every(({ updatable }) => updatable) ? written : []),
    ...verbs('disconnect', canUpdate && nulled.length > 0),
    ...verbs('delete', canUpdate && targetKey !== null && nulled.length > 0 && target.deletable),
    ...verbs('update', canUpdate && targetKey !== null && target.updatable && isKeyReadable(target)),
  ];
  return { relation, key, nulled, insert: new Set(insert), update: new Set(update) };
}

function incoming(relation: Relation): WritableRelation | null {
  const { target, kind } = relation;
  const key = columnsOf(target, relation, 'target');
  if (key === null || !isKeyReadable(target)) return null;
  const nulled = target.updatable ? nulledOf(key) : [];
  const canCreate = target.insertable && key.every(({ insertable }) => insertable);
  const canConnect = target.updatable && key.every(({ updatable }) => updatable) && target.uniqueKeys.length > 0;
  const insert = [
    ...verbs('connect', canConnect),
    ...verbs('connectOrCreate', canConnect && canCreate && target.arbiters.length > 0),
    ...verbs('create', canCreate),
  ];
  const update = [
    ...insert,
    ...verbs('disconnect', nulled.length > 0),
    ...verbs('set', kind === 'to-many' && canConnect && nulled.length > 0),
    ...verbs('update', target.updatable),
    ...verbs('delete', target.deletable),
  ];
  return { relation, key, nulled, insert: new Set(insert), update: new Set(update) };
}

function verbs(verb: NestedVerb, can: boolean): NestedVerb[] {
  return can ? [verb] : [];
}

/** A foreign key with any null column refers to nothing. Returns its nullable columns if all of them can be written. */
function nulledOf(key: readonly Column[]): readonly Column[] {
  const nullable = key.filter(({ refusesNull }) => !refusesNull);
  return nullable.every(({ updatable }) => updatable) ? nullable : [];
}

/** The columns of the foreign key on one side of a relation; null if the table lacks any. */
function columnsOf({ columns }: Table, relation: Relation, side: 'near' | 'target'): Column[] | null {
  const found = relation.columns.flatMap((pair) => columns.find(({ name }) => name === pair[side]) ?? []);
  return found.length === relation.columns.length ? found : null;
}
