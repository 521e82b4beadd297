/**
 * The statements that make a described schema in PostgreSQL, one an entry, in order.
 */
import type { DomainDescription } from './column-types.ts';
import {
  type ColumnDescription,
  type Directive,
  type ForeignKeyDescription,
  kindOf,
  type RoutineBody,
  type RoutineDescription,
  type Row,
  type SchemaDescription,
  type TableDescription,
  type UniqueIndexDescription,
} from './schema-description.ts';

export function quoteIdentifier(...path: readonly string[]): string {
  return path.map((name) => `"${name.replaceAll('"', '""')}"`).join('.');
}

/** A text literal, for `standard_conforming_strings = on`. */
export function quoteLiteral(text: string | null): string {
  return text === null ? 'null' : `'${text.replaceAll("'", "''")}'`;
}

/** All statements: structure, rows, then foreign keys, comments and access. */
export function schemaStatements(schema: SchemaDescription): string[] {
  const tables = schema.tables.filter(({ view }) => view === null);
  const views = schema.tables.filter(({ view }) => view !== null);
  return [
    `create schema ${quoteIdentifier(schema.name)}`,
    `create schema ${quoteIdentifier(partitionSchema(schema))}`,
    ...schema.enums.map(
      (each) => `create type ${quoteIdentifier(schema.name, each.name)} as enum (${each.labels.map(quoteLiteral).join(', ')})`,
    ),
    ...schema.domains.filter(({ base }) => !base.composite).map((domain) => createDomain(schema, domain)),
    ...schema.composites.map(({ name, attributes }) => {
      const members = attributes.map((each) => `${quoteIdentifier(each.name)} ${each.type.sql}`);
      return `create type ${quoteIdentifier(schema.name, name)} as (${members.join(', ')})`;
    }),
    ...schema.domains.filter(({ base }) => base.composite && !base.isRow).map((domain) => createDomain(schema, domain)),
    ...tables.flatMap((table) => [createTable(schema, table), ...domainsOver(schema, table).map((domain) => createDomain(schema, domain))]),
    ...tables.filter(({ isPartitioned }) => isPartitioned).flatMap((table, number) => createPartitions(schema, table, number)),
    ...tables.filter(({ isInherited }) => isInherited).map((table) => createChild(schema, table)),
    ...tables.flatMap((table) => table.uniqueIndexes.map((index) => createUniqueIndex(schema, table, index))),
    ...tables.flatMap((table) => insertRows(schema, table)),
    // Of some tables, PostgreSQL keeps the number of rows.
    ...tables.filter((_, index) => index % 2 === 0).map(({ name }) => `analyze ${quoteIdentifier(schema.name, name)}`),
    ...schema.foreignKeys.filter(({ declared }) => !declared).map((key) => addForeignKey(schema, key)),
    ...views.map((view) => createView(schema, view)),
    ...schema.routines.map((routine) => createRoutine(schema, routine)),
    ...comments(schema),
    ...access(schema),
  ];
}

function createDomain(schema: SchemaDescription, { name, base, checkSql }: DomainDescription): string {
  const check = checkSql === null ? '' : ` check (${checkSql})`;
  return `create domain ${quoteIdentifier(schema.name, name)} as ${base.sql}${check}`;
}

function domainsOver({ domains }: SchemaDescription, { name }: TableDescription): DomainDescription[] {
  return domains.filter(({ base }) => base.isRow && base.composite?.name === name);
}

function createTable(schema: SchemaDescription, table: TableDescription): string {
  const constraints = [
    ...(table.primaryKey.length > 0 ? [`primary key (${names(table.primaryKey)})`] : []),
    ...table.uniqueKeys.map((columns) => `unique (${names(columns)})`),
  ];
  const [first] = [...table.primaryKey, ...(table.uniqueKeys[0] ?? [])];
  const partition = table.isPartitioned ? ` partition by hash (${quoteIdentifier(first!)})` : '';
  return `create table ${quoteIdentifier(schema.name, table.name)} (\n  ${[...table.columns.map(columnSql), ...constraints].join(',\n  ')}\n)${partition}`;
}

function createUniqueIndex(
  schema: SchemaDescription,
  table: TableDescription,
  { name, columns, conditionSql }: UniqueIndexDescription,
): string {
  const condition = conditionSql === null ? '' : ` where ${conditionSql}`;
  return `create unique index ${quoteIdentifier(name)} on ${quoteIdentifier(schema.name, table.name)} (${names(columns)})${condition}`;
}

/** Where partitions and children are. */
function partitionSchema({ name }: SchemaDescription): string {
  return `${name} parts`;
}

function createPartitions(schema: SchemaDescription, table: TableDescription, number: number): string[] {
  return [0, 1].map((remainder) => {
    const name = quoteIdentifier(partitionSchema(schema), `part_${number}_${remainder}`);
    return `create table ${name} partition of ${quoteIdentifier(schema.name, table.name)} for values with (modulus 2, remainder ${remainder})`;
  });
}

function childName(schema: SchemaDescription, table: TableDescription): string {
  return quoteIdentifier(partitionSchema(schema), `child_${schema.tables.indexOf(table)}`);
}

function createChild(schema: SchemaDescription, table: TableDescription): string {
  return `create table ${childName(schema, table)} () inherits (${quoteIdentifier(schema.name, table.name)})`;
}

/** Removes everything. */
export function dropStatement(schema: SchemaDescription): string {
  return `drop schema if exists ${quoteIdentifier(schema.name)}, ${quoteIdentifier(partitionSchema(schema))} cascade`;
}

function names(columns: readonly string[]): string {
  return columns.map((column) => quoteIdentifier(column)).join(', ');
}

function columnSql({ name, type, notNull, defaultSql, generatedSql, identity }: ColumnDescription): string {
  const parts = [quoteIdentifier(name), type.sql];
  if (notNull) parts.push('not null');
  if (identity) parts.push(`generated ${identity} as identity (start with 1000)`);
  if (generatedSql !== null) parts.push(`generated always as (${generatedSql}) stored`);
  else if (defaultSql !== null) parts.push(`default ${defaultSql}`);
  return parts.join(' ');
}

function insertRows(schema: SchemaDescription, table: TableDescription): string[] {
  const columns = table.columns.filter(({ generatedSql }) => generatedSql === null);
  const insert = (into: string, rows: readonly Row[], overriding = '') => {
    const values = rows.map((row) => `(${columns.map(({ name }) => quoteLiteral(row.get(name) ?? null)).join(', ')})`);
    const start = `insert into ${into} (${names(columns.map(({ name }) => name))})${overriding}`;
    return rows.length === 0 ? [] : [`${start} values\n  ${values.join(',\n  ')}`];
  };
  const isDivided = table.isInherited && schema.foreignKeys.every(({ local, target }) => local !== table && target !== table);
  const [own, others] = isDivided ? [table.rows.slice(1), table.rows.slice(0, 1)] : [table.rows, []];
  const overriding = columns.some(({ identity }) => identity === 'always') ? ' overriding system value' : '';
  return [...insert(quoteIdentifier(schema.name, table.name), own, overriding), ...insert(childName(schema, table), others)];
}

function addForeignKey(
  schema: SchemaDescription,
  { name, local, localColumns, target, targetColumns, onDelete }: ForeignKeyDescription,
): string {
  return (
    `alter table ${quoteIdentifier(schema.name, local.name)} add constraint ${quoteIdentifier(name)} foreign key (${names(localColumns)})` +
    ` references ${quoteIdentifier(schema.name, target.name)} (${names(targetColumns)}) on delete ${onDelete}`
  );
}

function createView(schema: SchemaDescription, view: TableDescription): string {
  const { source, sourceColumns, conditionSql, kind } = view.view!;
  const options = kind === 'view of the invoker' ? ' with (security_invoker = true)' : '';
  const condition = conditionSql === null ? '' : ` where ${conditionSql}`;
  const columns = names(view.columns.map(({ name }) => name));
  return `create ${kindOf(view)} ${quoteIdentifier(schema.name, view.name)} (${columns})${options} as select ${names(sourceColumns)} from ${quoteIdentifier(schema.name, source.name)}${condition}`;
}

function createRoutine(schema: SchemaDescription, routine: RoutineDescription): string {
  const { result, query } = definitionOf(schema, routine);
  const returns = result.startsWith('out ') ? '' : ` returns ${result}`;
  return `create function ${signature(schema, routine, true)}${returns} ${routine.isVolatile ? 'volatile' : 'stable'} language sql as ${quoteLiteral(query)}`;
}

function definitionOf(
  schema: SchemaDescription,
  { body, arguments: given }: RoutineDescription,
): { readonly result: string; readonly query: string } {
  switch (body.kind) {
    case 'all rows': {
      const table = quoteIdentifier(schema.name, body.table.name);
      return { result: `setof ${table}`, query: `select * from ${table}` };
    }
    case 'text of a column':
      return { result: 'text', query: `select ($1).${quoteIdentifier(body.column)}::text || ${given.length > 0 ? '$2' : "'?'"}` };
    case 'copies of a column':
      return { result: 'setof text', query: `select ($1).${quoteIdentifier(body.column)}::text from generate_series(1, $2)` };
    case 'set column': {
      const table = quoteIdentifier(schema.name, body.table.name);
      const isKey = `${quoteIdentifier(body.key)} ${body.returns === 'row' ? '=' : '>='} $2`;
      const update = `update ${table} set ${quoteIdentifier(body.changed)} = $1 where ${isKey} returning *`;
      if (body.returns === 'count')
        return { result: 'integer', query: `with changed as (${update}) select count(*)::integer from changed` };
      return { result: body.returns === 'row' ? table : `setof ${table}`, query: update };
    }
    case 'echo':
      return { result: body.type.sql, query: 'select $1' };
    case 'constants': {
      const typed = body.columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type.sql}`);
      const result = {
        setof: `setof ${body.columns[0]!.type.sql}`,
        table: `table (${typed.join(', ')})`,
        out: typed.map((each) => `out ${each}`).join(', '),
      };
      const shown = body.columns.map((_, index) => `v.c${index}`).join(', ');
      return {
        result: result[body.returns],
        query: `select ${shown} from ${constantRows(body)} where n ${body.returns === 'out' ? '=' : '<='} $1 order by n`,
      };
    }
  }
}

/** The rows of a function that always returns the same, as an entry of `from`. */
export function constantRows({ columns, rows }: Extract<RoutineBody, { kind: 'constants' }>): string {
  const values = rows.map(
    (row, number) => `(${[number + 1, ...row.map((text, index) => `${quoteLiteral(text)}::${columns[index]!.type.sql}`)].join(', ')})`,
  );
  return `(values ${values.join(', ')}) as v(${['n', ...columns.map((_, index) => `c${index}`)].join(', ')})`;
}

/** As `create function` or, without names and defaults, other statements take it. */
function signature(schema: SchemaDescription, routine: RoutineDescription, isWhole = false): string {
  const { name, body, arguments: given } = routine;
  const row = 'column' in body ? [quoteIdentifier(schema.name, body.table.name)] : [];
  const others = given.map((each) =>
    isWhole
      ? `${quoteIdentifier(each.name)} ${each.type.sql}${each.defaultSql === null ? '' : ` default ${each.defaultSql}`}`
      : each.type.sql,
  );
  const out = isWhole && body.kind === 'constants' && body.returns === 'out' ? [definitionOf(schema, routine).result] : [];
  return `${quoteIdentifier(schema.name, name)}(${[...row, ...others, ...out].join(', ')})`;
}

function comments(schema: SchemaDescription): string[] {
  const comment = (object: string, directive: Directive | null) =>
    directive && Object.keys(directive).length > 0
      ? [`comment on ${object} is ${quoteLiteral(`@graphql(${JSON.stringify(directive)})`)}`]
      : [];
  return [
    ...comment(`schema ${quoteIdentifier(schema.name)}`, schema.directive),
    ...schema.enums.flatMap((each) => comment(`type ${quoteIdentifier(schema.name, each.name)}`, each.directive)),
    ...schema.composites.flatMap((composite) => [
      ...comment(`type ${quoteIdentifier(schema.name, composite.name)}`, composite.directive),
      ...composite.attributes.flatMap((each) =>
        comment(`column ${quoteIdentifier(schema.name, composite.name, each.name)}`, each.directive),
      ),
    ]),
    ...schema.tables.flatMap((table) => [
      ...comment(`${kindOf(table).replace('partitioned ', '')} ${quoteIdentifier(schema.name, table.name)}`, table.directive),
      ...table.columns.flatMap((column) => comment(`column ${quoteIdentifier(schema.name, table.name, column.name)}`, column.directive)),
    ]),
    ...schema.routines.flatMap((routine) => comment(`function ${signature(schema, routine)}`, routine.directive)),
    ...schema.foreignKeys
      .filter(({ declared }) => !declared)
      .flatMap(({ name, local, directive }) =>
        comment(`constraint ${quoteIdentifier(name)} on ${quoteIdentifier(schema.name, local.name)}`, directive),
      ),
  ];
}

function access(schema: SchemaDescription): string[] {
  const statements = schema.usableBy.map((role) => `grant usage on schema ${quoteIdentifier(schema.name)} to ${role}`);
  for (const routine of schema.routines) {
    const { callableBy } = routine;
    if (!callableBy) continue;
    statements.push(`revoke execute on function ${signature(schema, routine)} from public`);
    for (const role of callableBy) statements.push(`grant execute on function ${signature(schema, routine)} to ${role}`);
  }
  for (const table of schema.tables) {
    const name = quoteIdentifier(schema.name, table.name);
    for (const { role, verb, columns } of table.grants) {
      statements.push(`grant ${verb}${columns ? ` (${names(columns)})` : ''} on ${name} to ${role}`);
    }
    if (table.rowSecurity) statements.push(`alter table ${name} enable row level security`);
    for (const policy of table.policies) {
      const using = policy.command === 'insert' ? '' : ` using (${policy.conditionSql})`;
      const check = policy.command === 'all' || policy.command === 'insert' ? ` with check (${policy.conditionSql})` : '';
      statements.push(`create policy ${quoteIdentifier(policy.name)} on ${name} for ${policy.command} to ${policy.role}${using}${check}`);
    }
  }
  return statements;
}
