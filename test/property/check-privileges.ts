/** What a role may not do must not be in its schema; what PostgreSQL granted to it is known from the description. */
import { type GraphQLSchema, getNamedType, isInputObjectType, isObjectType } from 'graphql';
import type { Model, Table } from '../../src/model/model.ts';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import { isGranted, type SchemaDescription, type TableDescription, type Verb } from './schema-description.ts';

/** Fields and inputs of the schema that the role has no privilege for. */
export function notGranted(schema: SchemaDescription, model: Model, client: GraphQLSchema): string[] {
  return schema.tables.flatMap((table) => {
    const names = model.tables.find(({ name }) => name === table.name);
    return names ? notGrantedOn(table, names, model.role, client) : [];
  });
}

function notGrantedOn(table: TableDescription, names: Table, role: string, client: GraphQLSchema): string[] {
  const problems: string[] = [];
  const check = (verb: Verb, typeName: string) => {
    const type = client.getType(typeName);
    // The name of an input that there is not may be that of another table's rows.
    if ((!isObjectType(type) && !isInputObjectType(type)) || isObjectType(type) !== (verb === 'select')) return;
    for (const { name, fieldName, rowFieldName, selectable } of names.columns) {
      // What is not in rows has no name of its own there.
      if (verb === 'select' && !selectable) continue;
      const field = type.getFields()[verb === 'select' ? rowFieldName : fieldName];
      // A relation may have the name of a column that is not there.
      if (field && !isInputObjectType(getNamedType(field.type)) && !isGranted(table, role, verb, name))
        problems.push(`${verb} ${typeName}.${fieldName}`);
    }
  };
  if (names.selectable) check('select', names.typeName);
  check('insert', tableTypeName(names, 'InsertInput'));
  check('update', tableTypeName(names, 'UpdateInput'));
  const deletes = client.getMutationType()?.getFields()[`deleteFrom${names.stem}Collection`];
  if (deletes && !isGranted(table, role, 'delete', '')) problems.push(`delete from ${table.name}`);
  return problems;
}
