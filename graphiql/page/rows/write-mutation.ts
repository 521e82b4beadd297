/**
 * Writes the changes to a table as one mutation, which PostgreSQL does as one transaction, and finds the changes that its errors are about. Deletes
 * come first and inserts last, so that a new row may have what was unique to a deleted one.
 */
import { type ArgumentNode, type ConstArgumentNode, type ConstValueNode, Kind, print } from 'graphql';
import type { ApiColumn, ApiTable } from '../read-tables.ts';
import type { Change, Changes, Problem } from './changes.ts';
import type { Row } from './rows-query.ts';
import { plain, type TableAbilities } from './table-abilities.ts';

export interface WrittenMutation {
  readonly text: string;
  /** The root fields, in the order of the text. */
  readonly fields: readonly WrittenField[];
}

interface WrittenField {
  readonly alias: string;
  readonly change: Change;
  readonly firstLine: number;
  readonly lastLine: number;
}

export function writeMutation(table: ApiTable, abilities: TableAbilities, changes: Changes): WrittenMutation {
  const parts = [
    ...writeDeletes(table, abilities, changes),
    ...writeUpdates(table, abilities, changes),
    ...writeInserts(abilities, changes),
  ];
  const lines = [`mutation Change${table.type} {`];
  const fields = parts.map(({ text, alias, change }) => {
    const firstLine = lines.length + 1;
    lines.push(...text.split('\n').map((line) => `  ${line}`));
    return { alias, change, firstLine, lastLine: lines.length };
  });
  return { text: `${lines.join('\n')}\n}\n`, fields };
}

type FieldText = Pick<WrittenField, 'alias' | 'change'> & { readonly text: string };

function writeDeletes(table: ApiTable, abilities: TableAbilities, changes: Changes): readonly FieldText[] {
  const deletes = changes.filter(({ kind }) => kind === 'delete');
  return deletes.map((change, index) => {
    const alias = `delete${index + 1}`;
    return {
      alias,
      change,
      text: writeField(alias, abilities.delete?.field ?? '', [filterOf(table, abilities, rowOf(change))]),
    };
  });
}

function rowOf(change: Change): Row {
  return change.kind === 'insert' ? change.values : change.row;
}

function writeUpdates(table: ApiTable, abilities: TableAbilities, changes: Changes): readonly FieldText[] {
  return changes
    .filter((change) => change.kind === 'update')
    .map((change, index) => {
      const alias = `update${index + 1}`;
      const set = argument('set', objectOf(change.values, abilities.update?.inputs));
      const text = writeField(alias, abilities.update?.field ?? '', [set, filterOf(table, abilities, change.row)]);
      return { alias, change, text };
    });
}

/** Each by itself: of several objects, PostgreSQL does not say which one violates a constraint. */
function writeInserts({ insert }: TableAbilities, changes: Changes): readonly FieldText[] {
  return changes
    .filter(({ kind }) => kind === 'insert')
    .map((change, index) => {
      const alias = `insert${index + 1}`;
      const objects: ConstValueNode = { kind: Kind.LIST, values: [objectOf(rowOf(change), insert?.inputs)] };
      return { alias, change, text: writeField(alias, insert?.field ?? '', [argument('objects', objects)]) };
    });
}

function writeField(alias: string, field: string, given: readonly ConstArgumentNode[]): string {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  return print({
    kind: Kind.FIELD,
    alias: name(alias),
    name: name(field),
    arguments: given as readonly ArgumentNode[],
    selectionSet: { kind: Kind.SELECTION_SET, selections: [{ kind: Kind.FIELD, name: name('affectedCount') }] },
  });
}

function argument(name: string, value: ConstValueNode): ConstArgumentNode {
  return { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: name }, value };
}

/** The row alone: by its primary key, or by its global id if the key is not known. */
function filterOf({ columns }: ApiTable, { identity }: TableAbilities, row: Row): ConstArgumentNode {
  const names = identity.key.length > 0 ? identity.key : identity.field === null ? [] : [identity.field];
  const fields = names.map((name) => {
    const column = columns.find((each) => each.name === name);
    return member(name, { kind: Kind.OBJECT, fields: [member('eq', valueOf(row[name], column))] });
  });
  return argument('filter', { kind: Kind.OBJECT, fields });
}

function objectOf(values: Row, inputs: ReadonlyMap<string, ApiColumn> | undefined): ConstValueNode {
  return { kind: Kind.OBJECT, fields: Object.entries(values).map(([name, value]) => member(name, valueOf(value, inputs?.get(name)))) };
}

function member(name: string, value: ConstValueNode) {
  return { kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: name }, value } as const;
}

const graphqlName = /^[A-Za-z_]\w*$/;

/** A label of an enum that is no name in GraphQL is written as a string, which the server accepts. */
function valueOf(value: unknown, column: ApiColumn | undefined): ConstValueNode {
  if (value === null || value === undefined) return { kind: Kind.NULL };
  if (column?.isBareJson && !column.isList) return { kind: Kind.STRING, value: JSON.stringify(value) };
  if (Array.isArray(value)) return { kind: Kind.LIST, values: value.map((each) => valueOf(each, column)) };
  if (typeof value === 'boolean') return { kind: Kind.BOOLEAN, value };
  if (typeof value === 'number') return { kind: Number.isInteger(value) ? Kind.INT : Kind.FLOAT, value: numberText(value) };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return column?.labels != null && graphqlName.test(text) ? { kind: Kind.ENUM, value: text } : { kind: Kind.STRING, value: text };
}

/** Without the plus sign of an exponent, which JavaScript writes and GraphQL allows too; whole numbers have no exponent in GraphQL. */
function numberText(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

export interface MutationAnswer {
  readonly data?: Readonly<Record<string, { readonly affectedCount: number } | null>> | null;
  readonly errors?: readonly ServerError[];
}

interface ServerError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number }[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface MutationOutcome {
  readonly done: Changes;
  readonly problems: ReadonlyMap<string, Problem>;
  /** What belongs to no single change. */
  readonly message: string | null;
}

/** What came of the mutation. One that failed has changed nothing. */
export function readOutcome({ fields }: WrittenMutation, { data, errors = [] }: MutationAnswer, caller: string): MutationOutcome {
  const problems = new Map<string, Problem>();
  const others: string[] = [];
  if (errors.length > 0 || !data) {
    for (const error of errors) {
      const change = findChange(fields, error);
      if (change === null) others.push(error.message);
      else problems.set(change.id, { message: describeError(error), column: findColumn(error, change) });
    }
    return {
      done: [],
      problems,
      message: others.length > 0 || errors.length === 0 ? others.join('\n') || 'There is no response.' : null,
    };
  }
  for (const { alias, change } of fields)
    if ((data[alias]?.affectedCount ?? 0) === 0) problems.set(change.id, { message: describeNone(change, caller), column: null });
  return { done: fields.flatMap(({ change }) => (problems.has(change.id) ? [] : [change])), problems, message: null };
}

function describeNone({ kind }: Change, caller: string): string {
  if (kind === 'insert') return 'No row was inserted: a trigger or a rule left it out.';
  return `No row was ${kind}d: the policies of ${caller} do not let it, or the row has gone.`;
}

/** By the response key; errors of validation have only a place in the text. */
function findChange(fields: readonly WrittenField[], { path = [], locations = [] }: ServerError): Change | null {
  const field =
    fields.find(({ alias }) => alias === path[0]) ??
    fields.find(({ firstLine, lastLine }) => locations.some(({ line }) => line >= firstLine && line <= lastLine));
  return field?.change ?? null;
}

/** The detail says which value was the trouble, unless it is the whole row. */
function describeError({ message, extensions = {} }: ServerError): string {
  const { detail, hint } = extensions;
  const more = [detail, hint].filter((text) => typeof text === 'string' && text !== '' && !text.startsWith('Failing row'));
  return [message, ...more].join('. ');
}

/**
 * The column that the error names: by the place of the input, or as PostgreSQL does. Of a violated constraint it says only the name, and sometimes the columns
 * of the key, so a changed column is recognized in those.
 */
function findColumn({ extensions = {} }: ServerError, change: Change): string | null {
  if (change.kind === 'delete') return null;
  const { input, column, detail, constraint } = extensions;
  const named = /^(?:set|objects\[\d+\])\.(\w+)/.exec(String(input ?? ''))?.[1] ?? (typeof column === 'string' ? column : null);
  if (named !== null) return named;
  const names = Object.keys(change.values);
  const key = /^Key \(([^)]*)\)/.exec(String(detail ?? ''))?.[1]?.split(', ') ?? [];
  const ofKey = names.find((name) => key.some((each) => plain(each) === plain(name)));
  const ends = (name: string): boolean => new RegExp(`${plain(name)}(check|key|fkey|excl)\\d*$`).test(plain(String(constraint ?? '')));
  return ofKey ?? names.find(ends) ?? null;
}
