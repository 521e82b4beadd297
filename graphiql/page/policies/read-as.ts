/** Reads tables and answers as any caller, whoever the page's own caller is. */
import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  getOperationAST,
  type IntrospectionQuery,
  isObjectType,
  OperationTypeNode,
  parse,
  print,
} from 'graphql';
import { CallerHeaders } from '../caller-headers.ts';
import { createFetcher, type Fetcher } from '../fetcher.ts';
import type { PageBackend } from '../page-backend.ts';
import type { RoleCaller } from '../page-caller.ts';
import { type ApiTable, idFieldOf, readTables, writeColumn } from '../read-tables.ts';
import { selectIdentities } from './compare-answers.ts';
import type { Row, SeenRows } from './compare-rows.ts';

/** How many rows of each caller are compared; pages are as large as the schema lets them be. */
export const mostRows = 500;
const pageSize = 100;
/** How many rows are looked up by one request. */
const mostLookups = 50;

interface Answer {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string }[];
}

interface Connection {
  readonly totalCount?: number;
  readonly edges: readonly { readonly node: Row }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A table as a caller sees it. */
interface SeenTable {
  readonly table: ApiTable;
  readonly idField: string | null;
  readonly canCount: boolean;
  readonly hasLookup: boolean;
}

export interface EditorOperation {
  readonly query: string;
  readonly variables: string;
  readonly name: string | undefined;
}

/** The alias of the identity of a row, and of its number of rows. */
const identity = 'rowIdentity';

export class Reader {
  readonly #headers: CallerHeaders;
  readonly #endpoint: string;
  readonly #schemas = new Map<string, Promise<GraphQLSchema>>();

  constructor(backend: PageBackend, endpoint: string) {
    this.#headers = new CallerHeaders(backend);
    this.#endpoint = endpoint;
  }

  /** Rejects with an `Error` for a person. */
  async readRows(caller: RoleCaller, type: string): Promise<SeenRows> {
    const seen = await this.#seeTable(caller, type);
    if (seen === null) return { hasTable: false, rows: new Map(), columns: [], isCut: false, total: null };
    const rows = new Map<string, Row>();
    let total: number | null = null;
    let after: string | null = null;
    let isCut = false;
    do {
      const { data } = await this.#ask(caller, writeRows(seen), { after });
      const connection = data[seen.table.collection] as Connection;
      total ??= connection.totalCount ?? null;
      isCut = connection.pageInfo.hasNextPage || rows.size + connection.edges.length > mostRows;
      for (const { node } of connection.edges.slice(0, mostRows - rows.size)) rows.set(keyOf(node), node);
      after = connection.pageInfo.hasNextPage ? connection.pageInfo.endCursor : null;
    } while (after !== null && rows.size < mostRows);
    return { hasTable: true, rows, columns: columnsOf(seen), isCut, total };
  }

  /** The rows with these identities that a caller sees, and which of the identities were looked up. */
  async lookUp(
    caller: RoleCaller,
    type: string,
    keys: readonly string[],
  ): Promise<{ rows: ReadonlyMap<string, Row>; known: readonly string[] }> {
    const seen = await this.#seeTable(caller, type);
    const rows = new Map<string, Row>();
    if (seen === null || !seen.hasLookup) return { rows, known: seen === null ? keys : [] };
    for (let start = 0; start < keys.length; start += mostLookups) {
      const some = keys.slice(start, start + mostLookups);
      const fields = some.map((_, place) => `row${place}: node(${seen.idField}: $id${place}) { ... on ${type} { ${selectionOf(seen)} } }`);
      const query = `query LookUp(${some.map((_, place) => `$id${place}: ID!`).join(', ')}) { ${fields.join(' ')} }`;
      const { data } = await this.#ask(caller, query, Object.fromEntries(some.map((key, place) => [`id${place}`, key])));
      for (const row of Object.values(data)) if (row !== null) rows.set(keyOf(row as Row), row as Row);
    }
    return { rows, known: keys };
  }

  /** The answer to a query, with the identities of its rows; its errors are part of it. */
  async readAnswer(caller: RoleCaller, { query, variables, name }: EditorOperation): Promise<Answer> {
    const document = parse(query);
    const operation = getOperationAST(document, name);
    if (!operation) throw new Error('Choose which operation to compare: the editor has several, or none.');
    if (operation.operation !== OperationTypeNode.QUERY) throw new Error('Only queries are compared: a mutation would run twice.');
    const schema = await this.#schemaOf(caller);
    const fetcher = this.#fetcherOf(caller);
    const request = {
      query: print(selectIdentities(document, schema)),
      variables: variables.trim() === '' ? undefined : (JSON.parse(variables) as unknown),
      operationName: name,
    };
    return (await fetcher(request as Parameters<Fetcher>[0])) as Answer;
  }

  /** Reads schemas again: the database has changed. */
  forget(): void {
    this.#schemas.clear();
  }

  async #seeTable(caller: RoleCaller, type: string): Promise<SeenTable | null> {
    const schema = await this.#schemaOf(caller);
    const table = readTables(schema).find((each) => each.type === type);
    const rowType = schema.getType(type);
    if (table === undefined || !isObjectType(rowType)) return null;
    const connection = schema.getQueryType()?.getFields()[table.collection]?.type;
    const named = connection === undefined ? undefined : schema.getType(String(connection).replaceAll(/[[\]!]/g, ''));
    const canCount = isObjectType(named) && named.getFields().totalCount !== undefined;
    const idField = idFieldOf(rowType);
    return { table, idField, canCount, hasLookup: idField !== null && schema.getQueryType()?.getFields().node !== undefined };
  }

  #schemaOf(caller: RoleCaller): Promise<GraphQLSchema> {
    let schema = this.#schemas.get(caller.role);
    if (schema === undefined) {
      schema = this.#ask(caller, getIntrospectionQuery(), {}, 'IntrospectionQuery').then(({ data }) =>
        buildClientSchema(data as unknown as IntrospectionQuery),
      );
      schema.catch(() => this.#schemas.delete(caller.role));
      this.#schemas.set(caller.role, schema);
    }
    return schema;
  }

  #fetcherOf(caller: RoleCaller): Fetcher {
    const headersOfCaller = (wasRefused: boolean) => this.#headers.of(caller, wasRefused);
    return createFetcher({ endpoint: this.#endpoint, headersOfCaller, onExchange: () => undefined });
  }

  async #ask(
    caller: RoleCaller,
    query: string,
    variables: object,
    operationName?: string,
  ): Promise<{ data: Readonly<Record<string, unknown>> }> {
    const request = { query, variables, operationName } as Parameters<Fetcher>[0];
    const { data, errors = [] } = (await this.#fetcherOf(caller)(request)) as Answer;
    if (errors.length > 0 || !data) throw new Error(`As ${caller.role}: ${errors.map(({ message }) => message).join(' ') || 'no data'}`);
    return { data };
  }
}

function columnsOf({ table }: SeenTable): readonly string[] {
  return table.columns.map(({ name }) => name);
}

function selectionOf(seen: SeenTable): string {
  const id = seen.idField === null ? [] : [`${identity}: ${seen.idField}`];
  return [...id, ...seen.table.columns.map(writeColumn)].join(' ') || '__typename';
}

function writeRows(seen: SeenTable): string {
  const counted = seen.canCount ? 'totalCount ' : '';
  return `query Rows($after: Cursor) { ${seen.table.collection}(first: ${pageSize}, after: $after) { ${counted}edges { node { ${selectionOf(seen)} } } pageInfo { hasNextPage endCursor } } }`;
}

/** The identity of a row; without one, its values are all that it can be recognized by. */
function keyOf(row: Row): string {
  const id = row[identity];
  return typeof id === 'string' ? id : JSON.stringify(row);
}
