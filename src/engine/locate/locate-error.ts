/**
 * Finds the field that an error belongs to: its path, and its locations in the document. An error from before the database knows its field.
 * PostgreSQL knows only statements and functions, so the operation is planned once more, and the error belongs to the innermost field
 * around everything that may have raised it.
 */
import { type DocumentNode, parse } from 'graphql';
import type { Limits } from '../../budget/limits.ts';
import { runAtOnce } from '../../budget/turns.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import { unreadParameter } from '../../errors/from-postgres.ts';
import { writePath } from '../../errors/input-path.ts';
import type { Parameter } from '../../plan/plan.ts';
import { type FieldWork, listWork } from '../../plan/work.ts';
import { VariableError } from '../../request/coerce/declare-variables.ts';
import { adaptDocument, sentName } from '../../request/lenient/adapt-document.ts';
import { bindStatements, UnboundError } from '../prepare/bind-parameters.ts';
import { type PreparedRequest, planAgain } from '../prepare/compile-operation.ts';
import type { GraphQLRequest } from '../request.ts';
import type { Role, RoleSchema, SchemaTypes } from '../snapshot/role-schema.ts';
import { findSuspects } from './find-suspects.ts';
import { locateField, locateVariable, sharedStart } from './locate-field.ts';
import { isOfTable, locateInput, locatePlainInput } from './locate-input.ts';

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
  const statement = statementOf(error);
  const failure =
    prepared && statement !== null ? { statement, prepared, types: await roleSchema.granted.types(), role: roleSchema.role } : null;
  const path = error.path ?? (failure ? pathOf(error, failure) : undefined);
  const input = failure && error.details.input === undefined ? inputOf(error, failure) : undefined;
  const details = { ...(input !== undefined && { input }), ...(await namesOf(error, roleSchema)) };
  const located = Object.keys(details).length === 0 ? error : error.withDetails(details);
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
  if (details.table === undefined || !(cause instanceof DatabaseError)) return {};
  const { model } = await granted.types();
  const table = [...model.tables, ...model.rowTypes].find((each) => isOfTable(cause, each));
  const column = table?.columns.find(({ name }) => name === cause.column);
  return { ...(table && { table: table.typeName }), ...(column && { column: column.fieldName }) };
}

/** Errors that are no field's fault. */
const ofConnections: ReadonlySet<ErrorCode> = new Set(['DATABASE_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'OVERLOADED', 'CANCELLED']);

/** A failed statement, and what is needed to plan its request once more. */
interface Failure {
  readonly statement: number;
  readonly prepared: PreparedRequest;
  readonly types: SchemaTypes;
  readonly role: Role;
}

function pathOf(error: ApiError, { statement, prepared, types, role }: Failure): readonly string[] | undefined {
  const { cause } = error;
  const isOfDatabase = cause instanceof DatabaseError;
  const columns = prepared.compiled.roots.filter((root) => root.kind === 'column');
  const failed = columns.filter((root) => root.first <= statement && statement <= root.statement);
  const roots = failed.map(({ key }) => key);
  // What a root field writes may have statements of its own, before that of its response.
  const isApart = failed.some((root) => root.first < root.statement);
  const isWrite = failed.some((root) => root.statement > statement);
  const plan = planAgain(types, prepared);
  const work = (plan ? listWork(plan) : []).filter(({ path, ofWrite }) => roots.includes(path[0]!) && (!isApart || ofWrite === isWrite));
  const suspects = isOfDatabase ? suspectsOf(cause, work, prepared, role.limits) : unboundWork(work, prepared, role.limits);
  return sharedPath(suspects?.length ? suspects.map(({ path }) => path) : roots.map((key) => [key]));
}

/** The number of the statement that an error comes from. */
function statementOf(error: ApiError): number | null {
  const { cause, code } = error;
  if (cause instanceof DatabaseError) return ofConnections.has(code) ? null : cause.statement;
  return error instanceof UnboundError ? error.statement : null;
}

function inputOf(error: ApiError, { statement, prepared, types, role }: Failure): string | undefined {
  const { bindValues } = prepared.variables;
  const hindsight = {
    plan: () => planAgain(types, prepared),
    textOf: (parameter: Parameter) => bindStatements([{ text: '', parameters: [parameter] }], bindValues, role.limits)[0]!.parameters[0],
  };
  const compiled = prepared.compiled.statements[statement];
  if (compiled?.step !== undefined) return locateInput(error, prepared, statement, hindsight);
  // A response that is read after the write has a statement of its own, the last one.
  const root = prepared.compiled.roots.find((each) => each.kind === 'column' && each.statement >= statement);
  const value = hindsight.plan()?.roots.find(({ key }) => key === root?.key)?.value;
  if (!compiled || !value || ('readsAfter' in value && value.readsAfter && root?.kind === 'column' && root.statement === statement))
    return undefined;
  return locatePlainInput(error.cause, value, compiled.parameters, hindsight);
}

function suspectsOf(
  error: DatabaseError,
  work: readonly FieldWork[],
  { compiled, variables: { bindValues } }: PreparedRequest,
  limits: Limits,
): readonly FieldWork[] | null {
  const number = unreadParameter(error);
  if (number === null) return findSuspects(error, work);
  const unread = compiled.statements[error.statement!]?.parameters[number - 1];
  if (!unread) return null;
  const textOf = (parameter: Parameter) => bindStatements([{ text: '', parameters: [parameter] }], bindValues, limits)[0]!.parameters[0];
  const text = textOf(unread);
  // Another field with the same value of the same type is just as likely to be the cause.
  return work.filter(({ parameters }) => parameters.some((each) => isAlike(each, unread) && textOf(each) === text));
}

/** Whether parameters are read as the same type. A parameter that is read as text may hold any type, such as the elements of cursors. */
function isAlike({ encoding: one }: Parameter, { encoding: other }: Parameter): boolean {
  return one.kind === 'value' && other.kind === 'value' ? one.type.sqlType === other.type.sqlType : one.kind === other.kind;
}

function unboundWork(work: readonly FieldWork[], { variables: { bindValues } }: PreparedRequest, limits: Limits): readonly FieldWork[] {
  return work.filter(({ parameters }) => !canBind(parameters, bindValues, limits));
}

function canBind(parameters: readonly Parameter[], bindValues: PreparedRequest['variables']['bindValues'], limits: Limits): boolean {
  try {
    bindStatements([{ text: '', parameters }], bindValues, limits);
    return true;
  } catch {
    return false;
  }
}

/** The path of the innermost field around all of them; undefined if they share none. */
function sharedPath(paths: readonly (readonly string[])[]): readonly string[] | undefined {
  const [first, ...others] = paths;
  const path = first && others.reduce(sharedStart, first);
  return path?.length ? path : undefined;
}
