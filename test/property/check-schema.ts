/**
 * What must hold of the schema that a role is told: clients can load it, graphql-js finds nothing wrong with it, its text says the same,
 * and whatever of the database is not in it is listed with a reason.
 */
import {
  buildClientSchema,
  buildSchema,
  GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  type IntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
  validateSchema,
} from 'graphql';
import type { Table } from '../../src/model/model.ts';
import { tableTypeName } from '../../src/model/naming/graphql-names.ts';
import type { ReportedModel } from '../../src/model/report.ts';
import { type CaseContext, claims } from './case-context.ts';
import { notGranted } from './check-privileges.ts';
import { type ColumnType, isJson } from './column-types.ts';
import { isSearchable, isSearchInput } from './evaluate-search.ts';
import { PropertyFailure } from './property-failure.ts';
import { type ForeignKeyDescription, kindOf, type SchemaDescription, type TableDescription } from './schema-description.ts';

/** The schema of a role as clients see it. Throws `PropertyFailure`. */
export async function checkSchema({ graph, schema }: CaseContext, model: ReportedModel): Promise<GraphQLSchema> {
  const query = getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true });
  const { data, errors } = await graph.execute({ query }, { role: model.role, claims });
  if (errors) throw new PropertyFailure('Introspection fails.', { query, got: errors });
  const client = buildClientSchema(data as unknown as IntrospectionQuery);
  expectNone('The schema is not valid.', problemsOf(client));
  expectNone('Something is missing without a reason.', schema.usableBy.includes(model.role) ? unexplained(schema, model, client) : []);
  expectNone('The schema has what the role may not do.', notGranted(schema, model, client));
  // It has been judged; graphql-js would refuse to execute over names that are let pass here.
  return new GraphQLSchema({ ...client.toConfig(), assumeValid: true });
}

/**
 * Lets fields of rows be null that functions return as they get them, as no constraint holds for these, and, as in pg_graphql, those that columns
 * hold without the addition; and those of domains over JSON without a scalar of their own, which have JSON's null as it is.
 */
export function admitNulls({ routines, tables }: SchemaDescription, model: ReportedModel, client: GraphQLSchema): void {
  const plain = tables.filter(({ name }) => !model.tables.find((each) => each.name === name)?.additions.has('composites'));
  const returned = routines.flatMap(({ body }): readonly { readonly type: ColumnType }[] => {
    return body.kind === 'echo' ? [body] : body.kind === 'constants' ? body.columns : [];
  });
  const types = [...returned, ...plain.flatMap(({ columns }) => columns)].map(({ type }) => type);
  const held = new Set(types.flatMap(({ isRow, composite }) => (isRow ? composite!.name : [])));
  for (const { name, typeName, columns } of model.tables) {
    const documents = tables.find((each) => each.name === name)!.columns.filter(({ type }) => type.domain && isJson(type));
    const type = client.getType(typeName);
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const column = columns.find(({ rowFieldName }) => rowFieldName === field.name);
      if (held.has(name) || documents.some((each) => each.name === column?.name)) field.type = getNullableType(field.type);
    }
  }
}

/** Holds the schema as text to that of introspection. Throws `PropertyFailure`. */
export async function checkSchemaText({ graph }: CaseContext, { role }: ReportedModel, client: GraphQLSchema): Promise<void> {
  const printed = buildSchema(await graph.sdl({ role }));
  expectNone('The schema as text is not valid.', problemsOf(printed));
  const [told, written] = [client, printed].map((each) => withoutScalars(printSchema(lexicographicSortSchema(each))));
  if (told !== written) throw new PropertyFailure('The schema as text is not that of introspection.', { expected: told, got: written });
}

/** Columns may begin with two underscores, as in pg_graphql; nothing else may. */
function problemsOf(schema: GraphQLSchema): string[] {
  return validateSchema(schema)
    .filter(({ message }) => !message.includes('must not begin with "__"'))
    .map(String);
}

/** Scalars that nothing uses are built into graphql-js's text or not. */
function withoutScalars(sdl: string): string {
  return sdl.replace(/("""[^"]*"""\n)?scalar \w+(?: @specifiedBy\([^)]*\))?\n*/g, '');
}

function expectNone(what: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new PropertyFailure(what, { got: problems });
}

/** What is neither in the schema nor among the exclusions. */
function unexplained(schema: SchemaDescription, model: ReportedModel, client: GraphQLSchema): string[] {
  const excluded = new Set(model.exclusions.map(({ object, name }) => `${object} ${name}`));
  const missing: string[] = [];
  const expect = (isPresent: boolean, object: string, ...path: string[]) => {
    const name = `${object} ${[schema.name, ...path].join('.')}`;
    if (!isPresent && !excluded.has(name)) missing.push(name);
  };
  for (const table of schema.tables) {
    const names = tableNames(model, table);
    const written = model.tables.find(({ name, selectable }) => name === table.name && !selectable);
    if (written) {
      expect(client.getMutationType()?.getFields()[`insertInto${written.stem}Collection`] !== undefined, kindOf(table), table.name);
      continue;
    }
    expect(names !== undefined && client.getType(names.typeName) !== undefined, kindOf(table), table.name);
    if (!names) continue;
    const filter = client.getType(tableTypeName(names, 'Filter'));
    const isSearched = isInputObjectType(filter) && Object.values(filter.getFields()).some(({ type }) => isSearchInput(getNamedType(type)));
    if (isSearched !== (names.additions.has('search') && isSearchable(table, model.role))) missing.push(`search of ${table.name}`);
    for (const { name } of table.columns) expect(isShown(names, name, client), 'column', table.name, name);
  }
  for (const key of schema.foreignKeys) {
    // The keys that a directive declares go with its table.
    if (key.declared && !tableNames(model, key.local)) continue;
    const sides = [sideOf(model, client, key, key.local, 'outgoing'), sideOf(model, client, key, key.target, 'incoming')];
    expect(!sides.includes(false), 'relation', key.local.name, key.name);
  }
  for (const { name, body } of schema.routines) {
    const fields = 'column' in body ? model.tables.flatMap(({ computed }) => computed) : model.routines;
    const isExcluded = model.exclusions.some(
      (exclusion) => exclusion.object === 'function' && exclusion.name.startsWith(`${schema.name}.${name}(`),
    );
    if (!isExcluded && !fields.some((field) => field.name === name)) missing.push(`function ${name}`);
  }
  for (const { name, labels } of schema.enums) {
    const described = model.enums.find((each) => each.name === name);
    expect(described !== undefined, 'enum', name);
    const type = described && client.getType(described.typeName);
    for (const label of described ? labels : []) {
      const value = described?.values.find((each) => each.label === label);
      expect(value !== undefined && isEnumType(type) && type.getValue(value.name) !== undefined, 'enum value', name, label);
    }
  }
  return missing;
}

/** The table, if the role may read it. */
function tableNames(model: ReportedModel, { name }: TableDescription): Table | undefined {
  return model.tables.find((each) => each.name === name && each.selectable);
}

/** Whether a column that the role may select is a field of its type; or in an input, if it may only be written. */
function isShown({ typeName, columns }: Table, name: string, client: GraphQLSchema): boolean {
  const column = columns.find((each) => each.name === name);
  if (!column) return false;
  const type = client.getType(typeName);
  return !column.selectable || (isObjectType(type) && type.getFields()[column.rowFieldName] !== undefined);
}

/** Whether one side of a foreign key has its field; undefined where the field is there under the expected kind. */
function sideOf(
  model: ReportedModel,
  client: GraphQLSchema,
  key: ForeignKeyDescription,
  owner: TableDescription,
  side: 'outgoing' | 'incoming',
): boolean {
  const names = tableNames(model, owner);
  const [near, far] = side === 'outgoing' ? [key.localColumns, key.targetColumns] : [key.targetColumns, key.localColumns];
  const other = side === 'outgoing' ? key.target : key.local;
  const relations = (names?.relations ?? []).filter(
    ({ target, columns }) =>
      target.name === other.name &&
      columns.length === near.length &&
      columns.every((pair, index) => pair.near === near[index] && pair.target === far[index]),
  );
  const isToOne = side === 'outgoing' || isUnique(key);
  const type = names && client.getType(names.typeName);
  return relations.some(
    ({ kind, fieldName }) => (kind === 'to-one') === isToOne && isObjectType(type) && type.getFields()[fieldName] !== undefined,
  );
}

function isUnique({ local, localColumns }: ForeignKeyDescription): boolean {
  const keys = [local.primaryKey, ...local.uniqueKeys].filter((columns) => columns.length > 0);
  return keys.some((columns) => columns.every((name) => localColumns.includes(name)));
}
