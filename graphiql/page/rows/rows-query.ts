/** Writes the GraphQL query of the grid of rows. */
import { type ApiColumn, type ApiTable, writeColumn } from '../read-tables.ts';
import { readCell } from './cell-values.ts';
import type { RowIdentity, RowLink, TableAbilities } from './table-abilities.ts';

export interface RowsChoice {
  readonly filters: readonly RowsFilter[];
  /** Null leaves the order to the server. */
  readonly order: { readonly column: string; readonly isDescending: boolean } | null;
  /** The cursor after which the page begins; null for the first page. */
  readonly after: string | null;
  readonly pageSize: number;
  /** Columns and relations that are not shown, and not asked for. */
  readonly hidden?: readonly string[];
}

export interface RowsFilter {
  readonly column: string;
  /** An operator of the column's filter: `eq`, `ilike`, … */
  readonly operator: string;
  readonly value: string;
}

export interface RowsQuery {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A row as it was read: columns, and the rows that relations lead to. */
export type Row = Readonly<Record<string, unknown>>;

interface Connection {
  readonly totalCount?: number;
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** What the server answers. */
export interface RowsAnswer {
  readonly data?: Readonly<Record<string, Connection | null>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly input?: unknown; readonly code?: unknown } }[];
}

/** A column of the grid: one of the table, with the row that it refers to if it is a foreign key; or a relation by itself. */
export interface GridColumn {
  readonly id: string;
  readonly column: ApiColumn | null;
  readonly link: RowLink | null;
}

/** More would make a query that reads more related rows than its own. */
const mostLinks = 20;

/** All columns of the grid, hidden ones too. */
export function listGridColumns(table: ApiTable, { links }: TableAbilities): readonly GridColumn[] {
  const followed = links.slice(0, mostLinks);
  return [
    ...table.columns.map((column) => ({ id: column.name, column, link: followed.find((link) => link.column === column.name) ?? null })),
    ...followed.filter(({ column }) => column === null).map((link) => ({ id: link.field, column: null, link })),
  ];
}

/** The query, with only the arguments that were chosen, and without hidden columns. */
export function writeRowsQuery(table: ApiTable, choice: RowsChoice, abilities: TableAbilities): RowsQuery {
  const { argumentTypes, identity } = abilities;
  const variables = variablesOf(table, choice);
  const names = Object.keys(variables);
  const declared = names.map((name) => `$${name}: ${argumentTypes[name] ?? 'String'}`).join(', ');
  const passed = names.map((name) => `${name}: $${name}`).join(', ');
  const shown = listGridColumns(table, abilities).filter(({ id }) => !choice.hidden?.includes(id));
  const columns = new Set([...namesOf(identity), ...shown.flatMap(({ column }) => (column === null ? [] : [writeColumn(column)]))]);
  const lines = [
    `query ${table.type}Rows(${declared}) {`,
    `  ${table.collection}(${passed}) {`,
    ...(abilities.hasTotalCount ? ['    totalCount'] : []),
    '    edges {',
    '      node {',
    ...[...columns].map((name) => `        ${name}`),
    ...shown.flatMap(({ link }) => (link === null ? [] : writeLink(link))),
    '      }',
    '    }',
    '    pageInfo {',
    '      hasNextPage',
    '      endCursor',
    '    }',
    '  }',
    '}',
  ];
  return { query: `${lines.join('\n')}\n`, variables };
}

function namesOf({ field, key }: RowIdentity): readonly string[] {
  return [...(field === null ? [] : [field]), ...key];
}

function writeLink({ field, identity, label }: RowLink): readonly string[] {
  const columns = new Set([...(identity.key.length > 0 ? identity.key : namesOf(identity)), ...(label === null ? [] : [label])]);
  return [`        ${field} {`, ...[...columns].map((name) => `          ${name}`), '        }'];
}

function variablesOf({ columns }: ApiTable, { filters, order, after, pageSize }: RowsChoice): Readonly<Record<string, unknown>> {
  const conditions = filters.map((filter) => {
    const column = columns.find(({ name }) => name === filter.column);
    return { [filter.column]: { [filter.operator]: readFilterValue(filter, column).value } };
  });
  const [first] = conditions;
  return {
    first: pageSize,
    ...(first !== undefined && { filter: conditions.length === 1 ? first : { and: conditions } }),
    ...(order !== null && { orderBy: [{ [order.column]: order.isDescending ? 'DescNullsLast' : 'AscNullsFirst' }] }),
    ...(after !== null && { after }),
  };
}

/** Whether the value of a filter is a list, written with commas. */
export function takesList(operator: string, column: ApiColumn | undefined): boolean {
  return ['in', 'notIn', 'inI'].includes(operator) || column?.isList === true;
}

/** The JSON value of a filter. What is no value of the column is passed on as text, with a problem; the server refuses it too. */
export function readFilterValue(
  { operator, value }: RowsFilter,
  column: ApiColumn | undefined,
): { readonly value: unknown; readonly problem: string | null } {
  if (operator === 'is') return { value: /^\s*null\s*$/i.test(value) ? 'NULL' : 'NOT_NULL', problem: null };
  if (column === undefined) return { value, problem: null };
  // The server takes the text of JSON.
  const element = { ...column, isList: false, isBareJson: false };
  if (!takesList(operator, column)) {
    const read = readCell(value, element);
    return read.problem === null ? read : { value, problem: read.problem };
  }
  const read = value.split(',').map((part) => ({ part: part.trim(), ...readCell(part.trim(), element) }));
  return {
    value: read.map(({ problem, part, value: element }) => (problem === null ? element : part)),
    problem: read.find(({ problem }) => problem !== null)?.problem ?? null,
  };
}

/** The filters under which a table has the row that a relation leads to. */
export function filtersOfLink({ identity }: RowLink, row: Row): readonly RowsFilter[] {
  const names = identity.key.length > 0 ? identity.key : namesOf(identity);
  return names.map((column) => ({ column, operator: 'eq', value: String(row[column]) }));
}
