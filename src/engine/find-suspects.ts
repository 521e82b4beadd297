/**
 * Which fields of a plan an error of PostgreSQL may come from. PostgreSQL does not say which expression failed; its SQLSTATE and its context, the stack of
 * what it was doing, rule most of them out. Whatever may have raised the error stays a suspect, so that no field is blamed by a guess.
 */
import type { DatabaseError } from '../database/database.ts';
import type { Routine, Table } from '../model/model.ts';
import type { Operator } from '../plan/plan.ts';
import type { PlanPlace } from '../plan/plan-places.ts';

/** Errors of values and of functions. Reading the columns of a table raises none of them; it may raise the errors of encodings that are left out. */
const ofValues = /^(?:22(?!021|P05)|23|44|[6-9]|[I-WYZ])/;

/** States that comparisons raise themselves. */
const operatorsOf: Readonly<Record<string, readonly Operator[]>> = {
  // Invalid regular expression, invalid escape sequence.
  '2201B': ['regex', 'iregex'],
  '22025': ['like', 'ilike'],
};
/** Of a time zone that does not exist. */
const invalidParameter = '22023';
/** Numeric value out of range; a date or timestamp out of range. */
const outOfRange: ReadonlySet<string> = new Set(['22003', '22008']);

/** What PostgreSQL was doing, in the language of the server: the last line of the context. */
function outermost({ context }: DatabaseError): string | null {
  return context?.split('\n').at(-1) ?? null;
}

/** The number of the parameter whose text PostgreSQL could not read; null if the error is another. */
export function unreadParameter(error: DatabaseError): number | null {
  // `unnamed portal parameter $1 = '...'`. Another line lists all parameters, behind a colon.
  const number = /^[^'"«»=:()]*\$(\d+)(?![\w$])[^'"«»=:()]*(?: = '.*)?$/.exec(outermost(error) ?? '')?.[1];
  return number === undefined ? null : Number(number);
}

/** The places that may have raised the error; null if any may have. */
export function findSuspects(error: DatabaseError, places: readonly PlanPlace[]): readonly PlanPlace[] | null {
  const sqlstate = error.sqlstate ?? '';
  const frame = outermost(error);
  if (frame === null ? !ofValues.test(sqlstate) : !isFunction(frame)) return null;
  return places.filter(({ kind, table, routine, operators }) => {
    if (kind === 'write' || (table && runsHiddenCode(table))) return true;
    // A function in SQL may be inlined, and then its name is nowhere.
    if (routine) return !routine.plpgsql || (frame !== null && isNamed(frame, routine));
    if (frame !== null) return false;
    if (kind === 'aggregate') return outOfRange.has(sqlstate);
    if (kind === 'group' && (outOfRange.has(sqlstate) || sqlstate === invalidParameter)) return true;
    return operators.some((operator) => operatorsOf[sqlstate]?.includes(operator));
  });
}

/** Whether a line of context is of a function in PL/pgSQL or SQL: so it says in every language. */
function isFunction(frame: string): boolean {
  return /^[^'=]*SQL/.test(frame);
}

/** Whether reading the table runs expressions that the plan does not show: those of a view, a policy, another server. */
function runsHiddenCode({ kind, rowSecurity, keepsNotNull }: Table): boolean {
  return kind === 'view' || kind === 'foreign table' || rowSecurity || !keepsNotNull;
}

/** Whether a line of context is of the function: `PL/pgSQL function public.total(invoice) line 3 at RAISE`, `SQL function "total" statement 1`. */
function isNamed(frame: string, { name }: Routine): boolean {
  const written = name.replaceAll('"', '""');
  return [`${name}(`, `"${written}"(`, `"${name}"`, `»${name}«`, `« ${name} »`, `«${name}»`, `„${name}“`].some((text) => {
    const start = frame.indexOf(text);
    return start === 0 || (start > 0 && !/[\w$]/.test(frame[start - 1]!));
  });
}
