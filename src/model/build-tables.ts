/**
 * Which tables the role sees, and under which type names: those with a key, a name that GraphQL can carry and a column to read.
 */
import type { CatalogColumn, CatalogTable } from '../catalog/catalog.ts';
import { type BuildContext, privilegesOn, type SchemaSettings, type TableContext } from './build-context.ts';
import { inClaimOrder } from './claim-order.ts';
import { computedOwner, isSetOfRows, whyForbidden } from './computed-functions.ts';
import { type Directive, readDescription, readDirective, readEnabled, readKeyColumns, readMaxRows, readName } from './directives.ts';
import { Excluded, notGranted } from './excluded.ts';
import type { Renaming, Table } from './model.ts';
import { isFreeName, typeNameOf } from './names.ts';
import { qualifiedName } from './object-names.ts';
import { tableKinds } from './table-kinds.ts';
import { isWritable } from './value-types.ts';

/** Adds the tables to the context, still without columns, or the reason why one is left out to the exclusions. */
export function* addTables(context: BuildContext): Generator<void, void> {
  const keyless = new Map<number, TableContext>();
  for (const source of context.sources.values()) {
    const schema = context.schemas.get(source.schemaId);
    if (!schema) continue;
    const table = beginTable(context, source, schema);
    if (table instanceof Excluded) exclude(context, source, schema, table);
    else if (table.key instanceof Excluded) {
      exclude(context, source, schema, table.key);
      keyless.set(source.id, { ...table, key: null });
    } else context.tables.set(source.id, { ...table, key: table.key });
    yield;
  }
  addRowTypes(context, keyless);
  yield;
  yield* claimNames(context);
}

function exclude(context: BuildContext, { id, kind, name }: CatalogTable, schema: SchemaSettings, why: Excluded): void {
  context.exclusions.push({ object: tableKinds[kind], id, name: qualifiedName(schema.name, name), ...why });
}

/** A table to be filled in, with its key or why it has none; or why the table is excluded. */
function beginTable(
  context: BuildContext,
  source: CatalogTable,
  schema: SchemaSettings,
): (Omit<TableContext, 'key'> & { readonly key: readonly CatalogColumn[] | Excluded }) | Excluded {
  const directive = readDirective(source.comment);
  const kind = tableKinds[source.kind];
  if (source.columns.length === 0) return new Excluded('no-columns', 'it has no columns; add some');
  if (!source.columns.some((column) => privilegesOn(context, source, column).select)) {
    const remedy = `grant select on the ${kind}, or on some of its columns, to the role`;
    return notGranted(`the role ${context.privileges.role} cannot select any of its columns; ${remedy}`, 'select', source.id);
  }
  const typeName = readName(directive, 'name') ?? typeNameOf(source.name, schema.inflection);
  if (!isFreeName(typeName)) {
    return new Excluded(
      'illegal-name',
      `"${typeName}" is not a valid GraphQL name; choose another with the comment directive {"name": "..."}`,
    );
  }
  const table: TableContext['table'] = {
    id: source.id,
    schema: schema.name,
    name: source.name,
    kind,
    typeName,
    stem: typeName,
    renamedTypes: new Map(),
    description: readDescription(directive),
    columns: [],
    primaryKey: [],
    keepsNotNull: source.keepsNotNull,
    keyIsUnique: !source.hasChildren && source.indexes.some(({ primary, immediate }) => primary && immediate),
    relations: [],
    computed: [],
    maxRows: readMaxRows(directive) ?? schema.maxRows,
    totalCount: readEnabled(directive, 'totalCount'),
    selectable: true,
    ...abilities(context, source, directive),
    introspection: schema.introspection,
  };
  return { source, schema, directive, table, key: keyOf(source, directive) };
}

/** Adds the tables without a key whose rows computed fields of other tables return. */
function addRowTypes(context: BuildContext, keyless: Map<number, TableContext>): void {
  let found = keyless.size > 0;
  while (found) {
    found = false;
    for (const source of context.catalog.functions) {
      const id = context.catalog.types.get(source.resultTypeId)?.relationId ?? 0;
      const rows = keyless.get(id);
      const owner = rows && computedOwner(context, source);
      if (!rows || !owner || isSetOfRows(source) || whyForbidden(context, owner.source, source)) continue;
      context.tables.set(id, rows);
      keyless.delete(id);
      found = true;
    }
  }
}

/** Gives each table its names: the types and root fields of those with a key come before mere rows. */
function* claimNames(context: BuildContext): Generator<void, void> {
  const inOrder = inClaimOrder(context.tables.values(), context.schemas, ({ source, schema, directive }) => ({
    schemaId: schema.id,
    source: source.name,
    explicit: readName(directive, 'name') !== null,
  }));
  for (const hasKey of [true, false]) {
    for (const { table, schema, key } of inOrder) {
      if ((key !== null) !== hasKey) continue;
      const plain = table.typeName;
      const claimant = { name: plain, schema: schema.name, inflection: schema.inflection };
      if (hasKey) Object.assign(table, context.names.claimTable(claimant, table));
      else table.typeName = context.names.claimRows(claimant);
      const renamed = [...(table.typeName === plain ? [] : [table.typeName]), ...table.renamedTypes.values()];
      if (renamed.length > 0) context.renamings.push(renamingOf(table, plain, renamed));
      yield;
    }
  }
}

function renamingOf({ id, kind, schema, name, stem }: Table, plain: string, renamed: readonly string[]): Renaming {
  const fields = stem === plain ? '' : `, and its fields begin with ${stem}`;
  const reason =
    `the name "${plain}", or one derived from it, is already taken, so its types are called ${renamed.join(', ')}${fields}; ` +
    'choose another name with the comment directive {"name": "..."}';
  return { object: kind, id, name: qualifiedName(schema, name), reason };
}

/** The primary key in the order of the table's columns, or the columns that a directive names in its order; else why there is none. */
function keyOf(source: CatalogTable, directive: Directive): readonly CatalogColumn[] | Excluded {
  const primary = source.indexes.find((index) => index.primary);
  if (primary) return source.columns.filter(({ number }) => primary.columns.includes(number));
  const names = readKeyColumns(directive);
  if (!names) {
    const remedy = 'declare its key columns with the comment directive {"primary_key_columns": ["..."]}';
    const mayHaveOne = source.kind === 'r' || source.kind === 'p';
    return new Excluded('no-key', mayHaveOne ? `it has no primary key; add one, or ${remedy}` : `it has no key; ${remedy}`);
  }
  const key = names.map((name) => source.columns.find((column) => column.name === name));
  const missing = names.find((_name, position) => !key[position]);
  if (missing !== undefined) {
    const reason = `its comment directive names "${missing}" in primary_key_columns, which is not one of its columns; correct the directive`;
    return new Excluded('unusable-directive', reason);
  }
  return key.filter((column) => column !== undefined);
}

function abilities(context: BuildContext, source: CatalogTable, directive: Directive) {
  const may = (verb: 'insert' | 'update') =>
    source.columns.some((column) => privilegesOn(context, source, column)[verb] && !column.automatic && isWritable(context, column));
  return {
    insertable: source.canInsert && may('insert'),
    updatable: source.canUpdate && may('update'),
    deletable: source.canDelete && (context.privileges.tables.get(source.id)?.delete ?? false),
    aggregate: readEnabled(directive, 'aggregate'),
  };
}
