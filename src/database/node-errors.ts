/**
 * Errors of Citus's nodes. The coordinator passes on message and detail, with the names that tables, indexes and foreign keys have on the
 * shard: `task_102127` for `task`. It leaves out the fields that name table, column and constraint, which only the message then has.
 */
import type { DatabaseError } from '../errors/database-error.ts';

type Fields = ConstructorParameters<typeof DatabaseError>[1];
type Reported = Readonly<Record<'message' | 'code', string> & Partial<Record<'detail' | 'routine', string | undefined>>>;

/** Functions in the source of Citus, `remote_commands.c`: what a node reported, and that it cannot be reached. */
const ofResult = 'ReportResultError';
const ofConnection = 'ReportConnectionError';

/** A function that runs on a node reads distributed tables, which Citus reports as an internal error. */
const nestedQuery = /distributed query from a query on a shard/;

/** Ids of shards begin here (`pg_dist_shardid_seq`). */
const firstShard = 102_008;

/** The message and the fields of an error of a node; null for others. */
export function readNodeError({
  message,
  code,
  detail,
  routine,
}: Reported): { readonly message: string; readonly fields: Partial<Fields> } | null {
  if (routine === ofConnection) return refusedRole(message);
  if (routine !== ofResult) return null;
  if (nestedQuery.test(message)) return { message, fields: { sqlstate: '0A000' } };
  const ofTable = withoutShards(message);
  // PostgreSQL names them with violated constraints alone.
  const find = (pattern: RegExp): string | undefined => (code.startsWith('23') ? pattern.exec(ofTable)?.[1] : undefined);
  const constraint = find(/constraint "([^"]+)"/);
  // The one with the violated constraint comes last.
  const table = find(/constraint "[^"]+" on table "([^"]+)"/) ?? find(/(?:relation|table) "([^"]+)"/);
  const column = find(/null value in column "([^"]+)"/);
  return {
    message: ofTable,
    fields: {
      ...(detail !== undefined && { detail: withoutShards(detail) }),
      ...(constraint !== undefined && { constraint }),
      ...(table !== undefined && { table }),
      ...(column !== undefined && { column }),
    },
  };
}

/** The names that an error has beside its texts. */
interface Names {
  readonly message: string;
  readonly detail?: string | undefined;
  readonly table?: string | undefined;
  readonly constraint?: string | undefined;
}

/** An error of a shard that the coordinator has itself: it names the shard of a table that the batch touches (`schema.name`). */
export function ofLocalShard<Reported extends Names>(error: Reported, touches: readonly string[]): Reported {
  const tables = touches.map((name) => name.slice(name.indexOf('.') + 1));
  const named = `${error.message} "${error.table ?? ''}"`.matchAll(/"([^"]+)_(\d{6,})"/g);
  const shard = [...named].find(([, name, id]) => tables.includes(name!) && Number(id) >= firstShard)?.[2];
  if (shard === undefined) return error;
  const cut = (name: string | undefined): string | undefined => (name?.endsWith(`_${shard}`) ? name.slice(0, -shard.length - 1) : name);
  const { message, detail, table, constraint } = error;
  return {
    ...error,
    message: withoutShards(message),
    ...(detail !== undefined && { detail: withoutShards(detail) }),
    table: cut(table),
    constraint: cut(constraint),
  };
}

/** A check has the same name on all shards. */
function withoutShards(text: string): string {
  return text.replaceAll(/(check constraint )?"([^"]+)_(\d{6,})"/g, (all, check: string | undefined, name: string, id: string) =>
    check !== undefined || Number(id) < firstShard ? all : `"${name}"`,
  );
}

/** A node does not let the role of the request log in, as which Citus connects to it. */
function refusedRole(message: string): ReturnType<typeof readNodeError> {
  const [, role] = /remote node ([^@]+)@.*FATAL: .*(?:role|authentication|pg_hba)/s.exec(message) ?? [];
  if (role === undefined) return null;
  const remedy = 'Give it LOGIN, and let the nodes accept it (docs/citus.md)';
  const cause = `Citus connects to its nodes as the role of the request, and a node does not let ${JSON.stringify(role)} log in`;
  return { message: `${cause}. ${remedy}.`, fields: { reason: 'refused-by-node' } };
}
