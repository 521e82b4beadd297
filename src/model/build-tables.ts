/**
 * Which tables the role sees, and under which type names: those with a key, a name that GraphQL can carry and a column to read.
 */
import type { CatalogColumn, CatalogTable } from '../catalog/catalog.ts';
import { type Directive, readDescription, readDirective, readEnabled, readKeyColumns, readMaxRows, readName } from './directives.ts';
import { type Draft, privilegesOn, type SchemaSettings, type TableDraft } from './draft.ts';
import { LeftOut, notGranted } from './left-out.ts';
import { isFreeName, typeNameOf } from './names.ts';
import { qualifiedName } from './object-names.ts';
import { tableKinds } from './table-kinds.ts';
import { isWritable } from './value-types.ts';

/** Adds the tables to the draft, still without columns, or the reason why one is left out to the omissions. */
export function* addTables(draft: Draft): Generator<void, void> {
  for (const source of draft.sources.values()) {
    const schema = draft.schemas.get(source.schemaId);
    if (!schema) continue;
    const table = draftTable(draft, source, schema);
    const name = qualifiedName(schema.name, source.name);
    if (table instanceof LeftOut) draft.omissions.push({ object: tableKinds[source.kind], id: source.id, name, ...table });
    else draft.tables.set(source.id, table);
    yield;
  }
}

/** The draft of a table, or why there is none. */
function draftTable(draft: Draft, source: CatalogTable, schema: SchemaSettings): TableDraft | LeftOut {
  const directive = readDirective(source.comment);
  const kind = tableKinds[source.kind];
  if (source.columns.length === 0) return new LeftOut('no-columns', 'it has no columns: add some');
  if (!source.columns.some((column) => privilegesOn(draft, source, column).select)) {
    const remedy = `grant select on the ${kind}, or on columns of it, to the role`;
    return notGranted(`the role ${draft.privileges.role} may select none of its columns: ${remedy}`, 'select', source.id);
  }
  const typeName = readName(directive, 'name') ?? typeNameOf(source.name, schema.inflection);
  if (!isFreeName(typeName)) {
    return new LeftOut('illegal-name', `"${typeName}" is no GraphQL name: give it another with the comment directive {"name": "..."}`);
  }
  const key = keyOf(source, directive);
  if (key instanceof LeftOut) return key;
  const able = abilities(draft, source, directive);
  const taken = draft.names.claimTable(typeName, able);
  if (taken !== undefined) {
    const remedy = 'give it another name with the comment directive {"name": "..."}';
    return new LeftOut('name-taken', `the name "${taken}" is taken by another type or field: ${remedy}`);
  }
  const { aggregate, ...grants } = able;
  const table: TableDraft['table'] = {
    id: source.id,
    schema: schema.name,
    name: source.name,
    kind,
    typeName,
    description: readDescription(directive),
    columns: [],
    primaryKey: [],
    keepsNotNull: source.keepsNotNull,
    keyIsUnique: !source.hasChildren && source.indexes.some(({ primary, immediate }) => primary && immediate),
    relations: [],
    computed: [],
    maxRows: readMaxRows(directive) ?? schema.maxRows,
    totalCount: readEnabled(directive, 'totalCount'),
    aggregate,
    selectable: true,
    ...grants,
    introspection: schema.introspection,
  };
  return { source, schema, directive, table, key };
}

/** The primary key in the order of the table's columns, or the columns that a directive names in its order; else why there is none. */
function keyOf(source: CatalogTable, directive: Directive): readonly CatalogColumn[] | LeftOut {
  const primary = source.indexes.find((index) => index.primary);
  if (primary) return source.columns.filter(({ number }) => primary.columns.includes(number));
  const names = readKeyColumns(directive);
  if (!names) {
    const remedy = 'name its key columns with the comment directive {"primary_key_columns": ["..."]}';
    const mayHaveOne = source.kind === 'r' || source.kind === 'p';
    return new LeftOut('no-key', mayHaveOne ? `it has no primary key: add one, or ${remedy}` : `it has no key: ${remedy}`);
  }
  const key = names.map((name) => source.columns.find((column) => column.name === name));
  const missing = names.find((_name, position) => !key[position]);
  if (missing !== undefined) {
    const reason = `its comment directive names "${missing}" in primary_key_columns, which is no column of it: correct it`;
    return new LeftOut('unusable-directive', reason);
  }
  return key.filter((column) => column !== undefined);
}

function abilities(draft: Draft, source: CatalogTable, directive: Directive) {
  const may = (verb: 'insert' | 'update') =>
    source.columns.some((column) => privilegesOn(draft, source, column)[verb] && !column.automatic && isWritable(draft, column));
  return {
    insertable: source.canInsert && may('insert'),
    updatable: source.canUpdate && may('update'),
    deletable: source.canDelete && (draft.privileges.tables.get(source.id)?.delete ?? false),
    aggregate: readEnabled(directive, 'aggregate'),
  };
}
