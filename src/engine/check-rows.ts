/**
 * The limit of estimated rows. Most requests are within it by their page sizes alone. For the others the sizes of the tables count too: pages of
 * a small table are not full, and the rows of all its pages together are no more than it has.
 */
import { type Deadline, untilStopped } from '../budget/deadline.ts';
import { overLimit } from '../budget/limits.ts';
import { DatabaseError, type RequestDatabase } from '../database/database.ts';
import { stopError } from '../database/to-database-error.ts';
import type { ApiError } from '../errors.ts';
import { evaluateRowsOf, type LargestSource } from '../plan/estimate-rows.ts';
import { estimateRows, type PreparedRequest } from './prepare-request.ts';
import type { RoleSchema } from './role-schema.ts';
import { toApiError } from './sqlstate.ts';

/** Rejects with TOO_MANY_ESTIMATED_ROWS if the request reads too much of the tables as they are. */
export async function checkRows(
  prepared: PreparedRequest,
  roleSchema: RoleSchema,
  database: RequestDatabase,
  deadline: Deadline | null,
): Promise<void> {
  const error = await findExcess(prepared, roleSchema, database, deadline);
  if (error !== null) throw error;
}

/** The error at the selection that costs most; null if the request is within the limit. It has no count, which would tell the sizes of tables. */
export async function findExcess(
  prepared: PreparedRequest,
  { role, granted }: RoleSchema,
  database: RequestDatabase,
  deadline: Deadline | null,
): Promise<ApiError | null> {
  if (estimateRows(prepared) <= role.limits.estimatedRows) return null;
  const { compiled, variables } = prepared;
  const sizes = await untilStopped(granted.tableSizes.read(database), deadline, stopError).catch((error: unknown) => {
    throw error instanceof DatabaseError ? toApiError(error) : error;
  });
  const { rows, largest } = evaluateRowsOf(sizes, compiled.measure.rows, variables.bindValues);
  if (rows <= role.limits.estimatedRows) return null;
  return overLimit(role.limits, 'estimatedRows', undefined, largest ? adviceFor(largest) : undefined).at(largest?.path);
}

function adviceFor({ path, argument }: LargestSource): string {
  const where = `Most of them are in ${JSON.stringify(path.join('.'))}.`;
  if (argument === 'first') return `${where} Ask for smaller pages there or around it, such as "first: 10"`;
  return argument === 'atMost' ? `${where} Write fewer records, with a smaller "atMost"` : `${where} Select less of each`;
}
