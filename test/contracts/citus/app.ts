/** A multi-tenant app: its schema, with or without Citus, and requests with the answers that both must give. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { ExecutionResult, GraphQLRequest, Rowgraph } from '../../../src/index.ts';

interface AppRequest {
  readonly name: string;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly role?: string;
  readonly claims?: Record<string, unknown>;
  readonly ofTenant?: true;
  readonly refusal?: string;
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

export const appRequests = parse(read('requests.yaml')) as readonly AppRequest[];
export const appSchema = 'shop';

/** The roles of requests; `locked` may not log in. */
export const appRoles = `
  create role app_user login; create role locked nologin; create role app_server login noinherit;
  grant app_user, locked to app_server;`;
/** The one that rowgraph logs in as. */
export const loginRole = 'app_server';

/** The SQL that creates the schema and its rows. `distribution` distributes the tables while they are empty. */
export function appSql(distribution = ''): string {
  return read('schema.sql').replace('-- Distributed here.', () => distribution) + read('grants.sql');
}

/** Calls of Citus's functions. */
export const citusDistribution = read('distribution.sql');

/** Makes PostgreSQL's catalogs say of the tables what those of Citus say, so that rowgraph writes SQL for it. */
export function pretendedPlacements(): string {
  const calls = [...citusDistribution.matchAll(/select create_(distributed|reference)_table\('([\w.]+)'(?:, '(\w+)')?/g)];
  const rows = calls.map(([, kind, table, column]) =>
    kind === 'reference' ? `('${table}', 'n', null, 1, 't')` : `('${table}', 'h', '${column}', 2, 's')`,
  );
  return `
    set allow_system_table_mods = on;
    create table pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, colocationid int, repmodel "char");
    create table pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
    create function pg_catalog.column_to_column_name(regclass, text) returns text language sql as 'select $2';
    grant select on pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard to public;
    set allow_system_table_mods = off;
    insert into pg_catalog.pg_dist_partition values ${rows.join(', ')};
    insert into pg_catalog.pg_dist_shard select logicalrelid, n from pg_catalog.pg_dist_partition, generate_series(1, 32) n;`;
}

export function callerOf({ role = 'app_user', claims = {} }: AppRequest): { role: string; claims: Record<string, unknown> } {
  return { role, claims };
}

export function requestOf({ query, variables = {} }: AppRequest): GraphQLRequest {
  return { query, variables };
}

export function answerTo(graph: Rowgraph, request: AppRequest): Promise<ExecutionResult> {
  return graph.execute(requestOf(request), callerOf(request));
}
