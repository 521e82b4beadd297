/**
 * Finds the field that an error belongs to: its path, and its locations in the document; and the input, as its path in the arguments. An
 * error from before the database knows its field. PostgreSQL knows only statements and functions, so the operation is planned once more,
 * and the error belongs to the innermost field around everything that may have raised it, so that no field is blamed by guesswork.
 */
import { type DocumentNode, parse } from 'graphql';
import { runAtOnce } from '../../budget/turns.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import { outermostContext, unreadParameter } from '../../errors/from-postgres.ts';
import { writePath } from '../../errors/input-path.ts';
import type { Table } from '../../model/model.ts';
import type { Routine } from '../../model/routine.ts';
import { operators } from '../../model/types/operators.ts';
import type { Parameter, ParameterValue } from '../../plan/parameter.ts';
import { type FieldWork, listWork } from '../../plan/work.ts';
import { VariableError } from '../../request/coerce/declare-variables.ts';
import { adaptDocument, sentName } from '../../request/lenient/adapt-document.ts';
import { bindParameter, resolveValue, UnboundError } from '../prepare/bind-parameters.ts';
import { type PreparedRequest, planAgain } from '../prepare/prepare-request.ts';
import type { GraphQLRequest } from '../request.ts';
import type { RoleSchema } from '../snapshot/role-schema.ts';
import { errorOfElement } from './locate-element.ts';
import { locateField, locateVariable, sharedStart } from './locate-field.ts';
import { canBind, type Failure, isOfTable, locateInput } from './locate-input.ts';

/** The error with its path and locations, if the field is known. */
export async function locateError(
  error: unknown,
  { query, operationName }: GraphQLRequest,
  roleSchema: RoleSchema,
  prepared: PreparedRequest | undefined,
): Promise<unknown> {
  if (!(error instanceof ApiError)) return error;
  if (error instanceof VariableError) {
    const { path, locations, input } = locateVariable(await readAdapted(query, error, roleSchema), operationName, error.variable);
    return (input ? error.withDetails({ input: writePath([...input, ...error.valuePath]) }) : error).at(path, locations);
  }
  const failure = prepared ? await failureOf(error, roleSchema, prepared) : null;
  const path = error.path ?? (failure ? pathOf(failure) : undefined);
  const ofElement = failure && errorOfElement(failure);
  const input = failure && !ofElement && error.details.input === undefined ? locateInput(failure) : undefined;
  const details = { ...(input !== undefined && { input }), ...(!ofElement && (await namesOf(error, roleSchema))) };
  const located = Object.keys(details).length === 0 ? (ofElement ?? error) : error.withDetails(details);
  return path ? located.at(path, error.locations ?? locateField(query, operationName, path)) : located;
}

/** The document with locations: as lenient coercion reads it if the variable is in no other. */
async function readAdapted(query: string, { variable }: VariableError, { granted, role }: RoleSchema): Promise<DocumentNode> {
  const document = parse(query);
  if (sentName(variable) === variable) return document;
  return runAtOnce(adaptDocument((await granted.types()).schema, document, role.limits)).node;
}

/** The names in the API of the table and column that the error shows; those that are not in the role's API keep PostgreSQL's names. */
async function namesOf({ cause, details }: ApiError, { granted }: RoleSchema): Promise<{ table?: string; column?: string }> {
  if (!(cause instanceof DatabaseError) || (details.table === undefined && !(cause.onNodes && details.constraint !== undefined))) return {};
  const { model } = await granted.types();
  const tables = [...model.tables, ...model.rowTypes];
  const table = tables.find((each) => (cause.table === undefined ? hasConstraint(each, cause.constraint) : isOfTable(cause, each)));
  const column = table?.columns.find(({ name }) => name === cause.column);
  return { ...(table && { table: table.typeName }), ...(column && { column: column.fieldName }) };
}

/** Citus does not say of which table a unique constraint is. */
function hasConstraint({ arbiters }: Table, name: string | undefined): boolean {
  return arbiters.some(({ target }) => target.kind === 'constraint' && target.name === name);
}

/** Errors that are no field's fault. */
const ofConnections: ReadonlySet<ErrorCode> = new Set(['DATABASE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'OVERLOADED', 'CANCELLED']);

/** Null if no statement has failed. */
async function failureOf(error: ApiError, { granted }: RoleSchema, prepared: PreparedRequest): Promise<Failure | null> {
  const cause = error.cause instanceof DatabaseError ? error.cause : null;
  const ofDatabase = cause === null || ofConnections.has(error.code) ? null : cause.statement;
  const statement = error instanceof UnboundError ? error.statement : ofDatabase;
  if (statement === null) return null;
  const { bindValues } = prepared.variables;
  const textOf = (parameter: Parameter) => bindParameter(parameter, bindValues);
  const valueOf = (value: ParameterValue) => resolveValue(value, bindValues);
  return { error, cause, statement, compiled: prepared.compiled, plan: planAgain(await granted.types(), prepared), textOf, valueOf };
}

function pathOf(failure: Failure): readonly string[] | undefined {
  const { statement, compiled, plan, cause } = failure;
  const columns = compiled.roots.filter((root) => root.kind === 'column');
  const failed = columns.filter((root) => root.first <= statement && statement <= root.statement);
  const roots = failed.map(({ key }) => key);
  // What a root field writes may have statements of its own, before that of its response.
  const isApart = failed.some((root) => root.first < root.statement);
  const isWrite = failed.some((root) => root.statement > statement);
  const work = (plan ? listWork(plan) : []).filter(({ path, ofWrite }) => roots.includes(path[0]!) && (!isApart || ofWrite === isWrite));
  const unbound = () => work.filter(({ parameters }) => parameters.some((parameter) => !canBind(parameter, failure)));
  const suspects = cause === null ? unbound() : suspectsOf(cause, work, failure);
  return sharedPath(suspects?.length ? suspects.map(({ path }) => path) : roots.map((key) => [key]));
}

function suspectsOf(
  cause: DatabaseError,
  work: readonly FieldWork[],
  { statement, compiled, textOf }: Failure,
): readonly FieldWork[] | null {
  const number = unreadParameter(cause);
  if (number === null) return findSuspects(cause, work);
  const unread = compiled.statements[statement]?.parameters[number - 1];
  if (!unread) return null;
  const text = textOf(unread);
  // Another field with the same value of the same type is just as likely to be the cause.
  return work.filter(({ parameters }) => parameters.some((each) => isAlike(each, unread) && textOf(each) === text));
}

/** Whether parameters are read as the same type. A parameter that is read as text may hold any type, such as the elements of cursors. */
function isAlike({ encoding: one }: Parameter, { encoding: other }: Parameter): boolean {
  return one.kind === 'value' && other.kind === 'value' ? one.type.sqlType === other.type.sqlType : one.kind === other.kind;
}

/** The path of the innermost field around all of them; undefined if they share none. */
function sharedPath(paths: readonly (readonly string[])[]): readonly string[] | undefined {
  const [first, ...others] = paths;
  const path = first && others.reduce(sharedStart, first);
  return path?.length ? path : undefined;
}

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
