/**
 * Requests that are answered again and again: prepared and bound once for a schema, and run with the hash of the last answer, so that
 * PostgreSQL returns only another one.
 */
import { createHash } from 'node:crypto';
import { type HashedStatement, hashedStatement } from '../compile/hashed-statement.ts';
import type { Batch, RequestDatabase, RequestSetting, Statement } from '../database/database.ts';
import type { Observer } from '../events.ts';
import { bindRequest, noneIntrospected, type PreparedFor, refuseSuspects, responseMembers, type Target } from './handle.ts';
import { locateError } from './locate/locate-error.ts';
import type { GraphQLRequest, RawResponse } from './request.ts';
import { assembleResponse } from './run/response.ts';
import { runBatch } from './run/run-batch.ts';
import type { CompiledRequest } from './snapshot/role-schema.ts';
import type { SchemaSnapshot } from './snapshot/schema-snapshot.ts';

/** Whether it is still what a role's requests are prepared for. */
export function isCurrent({ snapshot, roleSchema }: PreparedFor, now: SchemaSnapshot, role: string): boolean {
  return snapshot === now && now.find(role)?.role === roleSchema.role;
}

/** An answer; `response` is null if it is the one whose hash was given. */
export interface Evaluated {
  readonly hash: string;
  readonly response: RawResponse | null;
  /** The ids of the relations that the transaction read, if they were traced. */
  readonly relations: readonly number[] | null;
}

interface StandingRun extends Required<Pick<Batch, 'deadline' | 'client' | 'marks'>> {
  readonly database: RequestDatabase;
  readonly observe: Observer;
}

/** Statements with their hash, by what they were compiled from: all batches of one share a template. */
const hashedStatements = new WeakMap<CompiledRequest, HashedStatement | null>();

/** Null if the request is answered without the database. */
function hashedOf(compiled: CompiledRequest): HashedStatement | null {
  const known = hashedStatements.get(compiled);
  if (known !== undefined) return known;
  const [statement] = compiled.statements;
  const places = compiled.roots.flatMap((root) => (root.kind === 'column' ? [root.column] : []));
  const others = compiled.cursorColumn === undefined ? [] : [compiled.cursorColumn];
  const hashed = statement === undefined ? null : hashedStatement(statement, places, others);
  hashedStatements.set(compiled, hashed);
  return hashed;
}

/**
 * The relations that the backend has locked since the transaction began
 * (https://www.postgresql.org/docs/current/view-pg-locks.html): all that its statements read, whichever way they led to them.
 */
const traceStatement: Statement = {
  text: `select pg_catalog.array_agg(l.relation)::text from pg_catalog.pg_locks l
where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation' and l.relation <> 'pg_catalog.pg_locks'::pg_catalog.regclass`,
  parameters: [],
};
/** Parallel workers hold locks of their own. */
const withoutWorkers: RequestSetting = ['max_parallel_workers_per_gather', '0'];

export class StandingRequest {
  readonly source: PreparedFor;
  readonly request: GraphQLRequest;
  /** Equal for requests that have the same answers: of the same role, text and values, and the same claims if it was bound with any. */
  readonly key: string;
  readonly #batch: Batch;
  readonly #extensions: string | null;
  readonly #hashed: HashedStatement | null;
  /** Where the statement has the version of the schema. */
  readonly #versionPlaces: readonly number[];

  private constructor(source: PreparedFor, request: GraphQLRequest, batch: Batch, extensions: string | null) {
    const { compiled } = source.prepared;
    const hashed = hashedOf(compiled);
    this.source = source;
    this.request = request;
    this.#hashed = hashed;
    this.#batch = { ...batch, template: hashed ?? undefined, origin: hashed ?? undefined };
    this.#extensions = extensions;
    const parameters = compiled.statements[0]?.parameters ?? [];
    this.#versionPlaces = parameters.flatMap(({ value }, index) => (value.kind === 'version' ? [index] : []));
    const values = batch.statements[0]?.parameters.map((value, index) => (this.#versionPlaces.includes(index) ? null : value));
    const { role, claims, requestSettings } = batch.session!;
    const parts = [request.query, request.operationName, hashed?.text, values, role, claims, requestSettings];
    this.key = createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  }

  /**
   * Checks and binds the values. `target` has the caller whose claims the statement reads. `cost` is the factor by which the estimated rows
   * count.
   */
  static async bind(source: PreparedFor, request: GraphQLRequest, target: Target, cost: number): Promise<StandingRequest> {
    const { role, granted } = source.roleSchema;
    const limits = { ...role.limits, estimatedRows: role.limits.estimatedRows / cost };
    const { extensions, ...batch } = await bindRequest({ role: { ...role, limits }, granted }, source.prepared, target);
    return new StandingRequest(source, request, batch, extensions);
  }

  get role(): string {
    return this.#batch.session!.role;
  }

  /** Requests of one kind may share a connection. */
  get kind(): object {
    return this.#hashed ?? this;
  }

  /**
   * Answers it, or finds the answer unchanged. Rejects with `ApiError`, or with errors for which there may be another attempt on a newer
   * schema.
   */
  async evaluate(lastHash: string, isTraced: boolean, { database, observe, ...run }: StandingRun): Promise<Evaluated> {
    const { roleSchema, prepared } = this.source;
    const { version, requestSettings } = roleSchema.granted;
    const { compiled } = prepared;
    const live = { isLive: true, dependsOn: requestSettings?.headers };
    if (this.#hashed === null) {
      const response = assembleResponse(responseMembers(compiled, [], noneIntrospected), this.#extensions, live);
      return { hash: 'constant', response: lastHash === 'constant' ? null : response, relations: null };
    }
    if (version !== null && version.suspects.size > 0) refuseSuspects(version, compiled);
    const rows = await runBatch(database, this.#batchWith(lastHash, isTraced, run), observe);
    const [row = [], trace] = rows;
    const hash = textOf(row[this.#hashed.columns]);
    const relations = isTraced ? readIds(textOf(trace?.[0])) : null;
    if (hash === lastHash) return { hash, response: null, relations };
    const { cursorColumn } = compiled;
    const endCursor = cursorColumn === undefined ? undefined : (JSON.parse(textOf(row[cursorColumn]) || 'null') as string | null);
    const traits = { ...live, endCursor };
    return { hash, response: assembleResponse(responseMembers(compiled, rows, noneIntrospected), this.#extensions, traits), relations };
  }

  /** The error of an evaluation, with the field that it belongs to if that is known. */
  locate(error: unknown): Promise<unknown> {
    return locateError(error, this.request, this.source.roleSchema, this.source.prepared);
  }

  #batchWith(lastHash: string, isTraced: boolean, run: Pick<Batch, 'deadline' | 'client' | 'marks'>): Batch {
    const batch = { ...this.#batch, ...run };
    const parameters = [...batch.statements[0]!.parameters, lastHash];
    const version = this.source.roleSchema.granted.version?.current ?? null;
    for (const place of this.#versionPlaces) parameters[place] = version;
    const statement = { text: this.#hashed!.text, parameters };
    if (!isTraced) return { ...batch, statements: [statement] };
    const session = { ...batch.session!, requestSettings: [...(batch.session!.requestSettings ?? []), withoutWorkers] };
    return { ...batch, session, statements: [statement, traceStatement] };
  }
}

/** Numbers and hashes are ASCII, whichever way the driver passes them on. */
function textOf(value: Awaited<ReturnType<RequestDatabase['run']>>[number][number] | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return 'latin1' in value ? value.latin1 : Buffer.concat(value).toString('latin1');
}

function readIds(array: string): readonly number[] {
  return array
    .slice(1, -1)
    .split(',')
    .filter((id) => id !== '')
    .map(Number);
}
