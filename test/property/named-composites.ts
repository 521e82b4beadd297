/** What values with members are called in GraphQL: those of composite types, rows of tables, and objects of shapes. */
import type { Column, Model, Table } from '../../src/model/model.ts';
import type { Shape } from './column-types.ts';
import type { SchemaDescription } from './schema-description.ts';

/** The composite types by their names, and the objects of shapes by their places. */
export function namedComposites(schema: SchemaDescription, model: Model): Map<string, Table> {
  const composites = model.composites.filter((each) => isDeclared(schema, each));
  const named = new Map(composites.map((each) => [each.name, each]));
  for (const { columns, name } of [...model.tables, ...composites]) {
    const described =
      [
        ...schema.tables.map((each) => [each.name, each.columns] as const),
        ...schema.composites.map((each) => [each.name, each.attributes] as const),
      ].find(([own]) => own === name)?.[1] ?? [];
    for (const column of columns) addObjects(named, column, described.find((each) => each.name === column.name)?.shape ?? null);
  }
  // Rows of tables are values as well.
  for (const table of model.tables) if (table.selectable && !named.has(table.name)) named.set(table.name, table);
  return named;
}

function addObjects(named: Map<string, Table>, column: Column, shape: Shape | null): void {
  const object = shape?.kind === 'list' ? shape.element : shape;
  if (!column.shape || object?.kind !== 'object') return;
  const { table } = column.shape;
  named.set(object.place, table);
  for (const member of object.members) addObjects(named, table.columns.find(({ name }) => name === member.name)!, member.shape);
}

/** Whether it is a type of the schema, and not what a function of the same name returns. */
function isDeclared({ composites }: SchemaDescription, { name, composite }: Table): boolean {
  return composites.some(
    (each) => each.name === name && each.attributes.every((attribute, index) => attribute.name === composite?.attributes?.[index]),
  );
}
