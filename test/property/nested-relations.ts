/** Which relations nested writes can follow, and on which side the foreign key of each is. */
import type { Relation } from '../../src/model/model.ts';
import type { LoadedTable, World } from './loaded-tables.ts';
import { columnOf, type ForeignKeyDescription, isGranted, type TableDescription } from './schema-description.ts';

/** Whether the rows of the table hold the key of the relation. */
export function isOutgoing({ world, description }: LoadedTable, { columns, kind, target }: Relation): boolean {
  const near = columns.map((pair) => pair.near);
  const far = columns.map((pair) => pair.target);
  return kind === 'to-one' && keysBetween(world, description, near, target.name, far).length > 0;
}

/** Whether a relation is one between tables, by a foreign key of PostgreSQL's. */
export function isPlainRelation(world: World, table: LoadedTable, relation: Relation): boolean {
  const target = loadedTarget(world, relation);
  if (table.description.view || target.description.view || target.rows === null) return false;
  const far = relation.columns.map((pair) => pair.target);
  const near = relation.columns.map((pair) => pair.near);
  return isOutgoing(table, relation) || keysBetween(world, target.description, far, table.names.name, near).length > 0;
}

/** Whether a role may do what a member does with the columns of the key; in an object of an insert or update of the near table. */
export function mayWriteKey(table: LoadedTable, relation: Relation, member: string, verb: 'insert' | 'update'): boolean {
  const { role } = table.world;
  const outgoing = isOutgoing(table, relation);
  const keeper = outgoing ? table : loadedTarget(table.world, relation);
  const columns = relation.columns.map(({ near, target }) => (outgoing ? near : target));
  const may = (how: 'insert' | 'update') => columns.every((name) => isGranted(keeper.description, role, how, name));
  const isNullable = columns.every((name) => !columnOf(keeper.description, name).notNull);
  switch (member) {
    case 'update':
      return true;
    case 'create':
      return outgoing ? may(verb) : may('insert');
    case 'connect':
      return outgoing ? may(verb) : may('update');
    case 'connectOrCreate':
      return outgoing ? may(verb) : may('insert') && may('update');
    case 'delete':
      return !outgoing || (may('update') && isNullable);
    default:
      return may('update') && isNullable;
  }
}

/** The table on the other side. */
export function loadedTarget(world: World, { target }: Relation): LoadedTable {
  return world.tables.find(({ names }) => names.name === target.name)!;
}

function keysBetween(
  world: World,
  local: TableDescription,
  localColumns: readonly string[],
  target: string,
  targetColumns: readonly string[],
): readonly ForeignKeyDescription[] {
  return world.foreignKeys.filter(
    (key) =>
      !key.declared &&
      key.local === local &&
      key.target.name === target &&
      key.localColumns.length === localColumns.length &&
      key.localColumns.every((name, index) => {
        const at = localColumns.indexOf(name);
        return at >= 0 && targetColumns[at] === key.targetColumns[index];
      }),
  );
}
