/** Random tables with their columns and keys, and random views over them. */
import { arrayOf, type ColumnType, integerType, keyTypes, ofDomain, randomColumnType, rowType, tsvectorType } from './column-types.ts';
import { FreshNames, randomName } from './hostile-names.ts';
import type { RandomSource } from './random-source.ts';
import { type ColumnDescription, columnOf, keyColumns, type SchemaDescription, type TableDescription } from './schema-description.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';

/** A table without foreign keys and rows. */
export function randomTable(
  random: RandomSource,
  name: string,
  declared: readonly ColumnType[],
  others: readonly ColumnType[],
): TableDescription {
  const names = new FreshNames();
  const columns: ColumnDescription[] = [];
  const keySize = random.chance(0.75) ? 1 : random.integer(2, 3);
  const keyNames = Array.from({ length: keySize }, () => names.take(random, 0.1));
  const hasIdentity = keySize === 1 && random.chance(0.25);
  for (const keyName of keyNames) {
    const type = hasIdentity ? integerType : random.pick(keyTypes);
    columns.push({
      ...plainColumn(keyName, type),
      notNull: true,
      identity: hasIdentity ? random.pick(['by default', 'always'] as const) : null,
    });
  }
  const more = random.integer(1, 6);
  for (let count = 0; count < more; count += 1) {
    const type = randomColumnType(random, declared, others);
    columns.push(randomColumn(random, names.take(random, 0.15), type));
  }
  addGenerated(random, columns, names);
  const isPartitioned = !hasIdentity && random.chance(0.07);
  const table: TableDescription = {
    name,
    columns: random.chance(0.7) ? columns : random.shuffled(columns),
    primaryKey: random.shuffled(keyNames),
    uniqueKeys: [],
    uniqueIndexes: [],
    isPartitioned,
    isInherited: !isPartitioned && random.chance(0.07),
    view: null,
    directive: {},
    rowSecurity: false,
    policies: [],
    grants: [],
    rows: [],
  };
  if (random.chance(0.1)) replaceKeyByUnique(random, table);
  return table;
}

function plainColumn(name: string, type: ColumnType): ColumnDescription {
  return { name, type, notNull: false, defaultSql: null, generatedSql: null, identity: null, directive: null, shape: null };
}

/** A column that holds values of a type, for a foreign key. */
export function addColumn(table: TableDescription, name: string, type: ColumnType, notNull: boolean): void {
  table.columns.push({ ...plainColumn(name, type), notNull });
}

function randomColumn(random: RandomSource, name: string, type: ColumnType): ColumnDescription {
  const defaultSql = random.chance(0.25) ? `${quoteLiteral(random.pick(type.values))}::${type.sql}` : null;
  return { ...plainColumn(name, type), notNull: random.chance(0.3), defaultSql };
}

function addGenerated(random: RandomSource, columns: ColumnDescription[], names: FreshNames): void {
  const source = columns.find(({ type }) => type.sql === 'text' || type.sql === 'smallint');
  if (!source || random.chance(0.7)) return;
  const name = quoteIdentifier(source.name);
  const isSearched = source.type.sql === 'text' && random.chance(0.5);
  const ofText = isSearched ? `to_tsvector('english', coalesce(${name}, ''))` : `${name} || '!'`;
  const generatedSql = source.type.sql === 'text' ? ofText : `${name}::integer + 1`;
  const type = isSearched ? tsvectorType : source.type.sql === 'text' ? source.type : integerType;
  columns.push({ ...plainColumn(names.take(random, 0.1), type), generatedSql });
}

/** Adds columns that hold rows of tables before theirs, arrays of such rows, or domains over them. */
export function addRowColumns(random: RandomSource, schema: SchemaDescription, domainNames: FreshNames): ColumnType[] {
  const types: ColumnType[] = [];
  for (const [index, table] of schema.tables.entries()) {
    const sources = schema.tables.slice(0, index).filter(isComparable);
    if (sources.length === 0 || random.chance(0.75)) continue;
    const source = random.pick(sources);
    const row = rowType(random, quoteIdentifier(schema.name, source.name), source);
    const type = random.chance(0.3) ? rowDomain(schema, row, domainNames.take(random, 0.1)) : row;
    types.push(type);
    const names = new FreshNames(table.columns.map(({ name }) => name));
    table.columns.push(randomColumn(random, names.take(random, 0.1), random.chance(0.7) ? type : arrayOf(random, type)));
  }
  return types;
}

function rowDomain({ name: schemaName, domains }: SchemaDescription, base: ColumnType, name: string): ColumnType {
  const domain = { name, base, checkSql: null };
  domains.push(domain);
  return ofDomain(quoteIdentifier(schemaName, name), domain);
}

/** Whether PostgreSQL can compare rows as a whole. */
function isComparable({ columns }: TableDescription): boolean {
  return columns.every(({ type }) => !/^(json|point)(\[\])?$/.test(type.sql));
}

/** A table without a primary key, whose key a directive may name. */
function replaceKeyByUnique(random: RandomSource, table: TableDescription): void {
  table.uniqueKeys.push([...table.primaryKey]);
  if (random.chance(0.7)) table.directive = { primary_key_columns: [...table.primaryKey] };
  table.primaryKey = [];
}

/** Adds a unique index of the key and another column, under a name that GraphQL may be unable to carry. The number keeps names apart. */
export function addUniqueIndex(random: RandomSource, table: TableDescription, number: number): void {
  const { primaryKey, columns } = table;
  const others = columns.filter(({ name, type }) => !primaryKey.includes(name) && keyTypes.includes(type));
  if (primaryKey.length === 0 || others.length === 0 || random.chance(0.6)) return;
  const other = random.pick(others).name;
  const name = random.chance(0.5) ? `index_${number}` : `${number}-${[...randomName(random, 0.5)].slice(0, 10).join('')}`;
  const conditionSql = random.chance(0.5) ? `${quoteIdentifier(other)} is not null` : null;
  table.uniqueIndexes.push({ name, columns: random.shuffled([...primaryKey, other]), conditionSql });
}

/** Adds a view of some columns of a table, often with its key. */
export function addView(random: RandomSource, schema: SchemaDescription, name: string): void {
  const source = random.pick(schema.tables.filter(({ view }) => view === null));
  const key = keyColumns(source);
  const shown = source.columns.filter((column) => key.includes(column.name) || random.chance(0.7));
  if (shown.length === 0) return;
  const names = new FreshNames(shown.map((column) => column.name));
  const columns = shown.map((column) => ({
    ...plainColumn(random.chance(0.8) ? column.name : names.take(random, 0.15), column.type),
  }));
  const viewKey = key.map((keyName) => columns[shown.findIndex((column) => column.name === keyName)]!.name);
  const view: TableDescription = {
    name,
    columns,
    primaryKey: [],
    uniqueKeys: [],
    uniqueIndexes: [],
    isPartitioned: false,
    isInherited: false,
    view: {
      source,
      sourceColumns: shown.map((column) => column.name),
      conditionSql: random.chance(0.4) ? randomCondition(random, source) : null,
      kind: random.pick(['view', 'view', 'view', 'view of the invoker', 'materialized view']),
    },
    directive: viewKey.length > 0 && random.chance(0.85) ? { primary_key_columns: viewKey } : {},
    rowSecurity: false,
    policies: [],
    grants: [],
    rows: [],
  };
  if (random.chance(0.4)) declareForeignKey(random, schema, view);
  schema.tables.push(view);
}

/** A foreign key that the view's directive declares, along one of the source's or on its key. */
function declareForeignKey(random: RandomSource, schema: SchemaDescription, view: TableDescription): void {
  const source = view.view!;
  const own = schema.foreignKeys.filter(
    ({ local, localColumns }) => local === source.source && localColumns.every((name) => source.sourceColumns.includes(name)),
  );
  if (own.length === 0) return;
  const { target, localColumns, targetColumns } = random.pick(own);
  const local = localColumns.map((name) => view.columns[source.sourceColumns.indexOf(name)]!.name);
  const names = {
    ...(random.chance(0.4) && { local_name: randomName(random, 0.1) }),
    ...(random.chance(0.4) && { foreign_name: randomName(random, 0.1) }),
  };
  const entry = {
    local_columns: local,
    foreign_schema: schema.name,
    foreign_table: target.name,
    foreign_columns: [...targetColumns],
    ...names,
  };
  view.directive = { ...view.directive, foreign_keys: [entry] };
  const name = 'foreign_keys[0]';
  schema.foreignKeys.push({
    name,
    local: view,
    localColumns: local,
    target,
    targetColumns,
    directive: names,
    declared: true,
    onDelete: 'no action',
  });
}

/** A condition over a row of the table, for a view or a policy. */
export function randomCondition(random: RandomSource, table: TableDescription): string {
  const column = columnOf(table, random.pick(table.columns).name);
  const name = quoteIdentifier(column.name);
  if (column.type.sql === 'integer') return random.pick([`${name} % 2 = 0`, `${name} > 1`, `${name} is not null`]);
  if (column.type.sql === 'text') return random.pick([`${name} <> 'a'`, `${name} > 'A'`, `length(${name}) < 4`]);
  return random.pick([`${name} is not null`, `${name} is null`, 'true', 'true']);
}
