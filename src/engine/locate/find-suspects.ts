/**
 * Finds the fields of a plan that an error of PostgreSQL may come from. PostgreSQL does not say which expression failed, but its SQLSTATE
 * and its context (the stack of what it was doing) rule most of them out. Whatever may have raised the error remains a suspect, so that no
 * field is blamed by guesswork.
 */

import type { DatabaseError } from '../../errors/database-error.ts';
import { outermostContext } from '../../errors/from-postgres.ts';
import type { Routine, Table } from '../../model/model.ts';
import { operators } from '../../model/types/operators.ts';
import type { FieldWork } from '../../plan/work.ts';

/**
 * Errors that values and functions raise. Reading the columns of a table raises none of them. Encoding errors are left out, because reading
 * columns can raise them.
 */
const ofValues = /^(?:22(?!021|P05)|23|44|[6-9]|[I-WYZ])/;

/** The state of an unknown time zone, among others. */
const invalidParameter = '22023';
/** The states "numeric value out of range" and "datetime field overflow". */
const outOfRange: ReadonlySet<string> = new Set(['22003', '22008']);

/** The work that may have raised the error; null if any may have. */
export function findSuspects(error: DatabaseError, work: readonly FieldWork[]): readonly FieldWork[] | null {
  const sqlstate = error.sqlstate ?? '';
  const frame = outermostContext(error);
  if (frame === null ? !ofValues.test(sqlstate) : !isFunction(frame)) return null;
  return work.filter(({ kind, table, routine, operator }) => {
    if (kind === 'write' || (table && runsHiddenCode(table))) return true;
    // A function in SQL may be inlined; then its name appears nowhere.
    if (routine) return !routine.plpgsql || (frame !== null && isNamed(frame, routine));
    if (frame !== null) return false;
    if (kind === 'aggregate') return outOfRange.has(sqlstate);
    if (kind === 'group' && (outOfRange.has(sqlstate) || sqlstate === invalidParameter)) return true;
    return operator !== undefined && operators[operator].raises === sqlstate;
  });
}

/** Whether a line of context names a function in PL/pgSQL or SQL. Those words are the same in every language. */
function isFunction(frame: string): boolean {
  return /^[^'=]*SQL/.test(frame);
}

/** Whether reading the table evaluates expressions that the plan does not show: those of a view, a policy or a foreign server. */
function runsHiddenCode({ kind, rowSecurity, keepsNotNull }: Table): boolean {
  return kind === 'view' || kind === 'foreign table' || rowSecurity || !keepsNotNull;
}

/**
 * Whether a line of context names the function: `PL/pgSQL function public.total(invoice) line 3 at RAISE`, `SQL function "total" statement
 * 1`.
 */
function isNamed(frame: string, { name }: Routine): boolean {
  const written = name.replaceAll('"', '""');
  return [`${name}(`, `"${written}"(`, `"${name}"`, `»${name}«`, `« ${name} »`, `«${name}»`, `„${name}“`].some((text) => {
    const start = frame.indexOf(text);
    return start === 0 || (start > 0 && !/[\w$]/.test(frame[start - 1]!));
  });
}
