/**
 * What comment directives may contain for each kind of object, and a check that finds those that have no effect: broken ones, members of
 * the wrong type, and unknown members. They are ignored, but a log line and the doctor report them. The result does not depend on the role.
 */
import type { Catalog, CatalogColumn, CatalogTable } from '../catalog/catalog.ts';
import { isJsonObject } from '../errors/api-error.ts';
import { additionNames } from '../settings/additions.ts';
import { parseDirective, readLiveRefresh, readSearch } from './directives.ts';
import { isJsonType, readShape, WrongShape } from './json-shapes.ts';
import type { TableKind } from './model.ts';
import { functionName, qualifiedName, tableKinds } from './naming/names.ts';
import { faultOfSearch } from './tables/build-search.ts';

type DirectiveKind = keyof typeof directiveMembers;

/** A directive that is not valid JSON, or a member that has the wrong type or is unknown. All of these are ignored. */
interface DirectiveFault {
  readonly fault: 'broken' | 'wrong type' | 'unknown member';
  readonly message: string;
}

/** What a directive is on: an enum with labels, or a table. */
interface Subject {
  readonly catalog: Catalog;
  readonly labels?: readonly string[] | null;
  readonly table?: CatalogTable;
}

/** Says what a member must be; null if its value is valid. */
type MemberCheck = (value: unknown, subject: Subject) => string | null;

const name: MemberCheck = (value) => (isJsonObject(value) || Array.isArray(value) ? 'a name' : null);
const text: MemberCheck = (value) => (typeof value === 'string' ? null : 'text');
const flag: MemberCheck = (value) => (typeof value === 'boolean' ? null : 'true or false');
const count: MemberCheck = (value) =>
  /^\s*\+?\d+\s*$/.test(String(value)) && Number(value) <= 2147483647 ? null : 'a whole number from 0 to 2147483647';
const enabled: MemberCheck = (value) =>
  isJsonObject(value) && ['true', 'false'].includes(String(value['enabled'])) ? null : '{"enabled": true} or {"enabled": false}';
const columnNames: MemberCheck = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string') ? null : 'a list of column names';
const list: MemberCheck = (value) => (Array.isArray(value) ? null : 'a list');
const additions: MemberCheck = (value) => {
  const isValid = isJsonObject(value) && Object.values(value).every((item) => typeof item === 'boolean');
  const unknown = isValid ? Object.keys(value).find((key) => !(additionNames as readonly string[]).includes(key)) : undefined;
  if (isValid && unknown === undefined) return null;
  return `an object of true or false by the name of an addition (${additionNames.join(', ')})`;
};
const live: MemberCheck = (value) =>
  readLiveRefresh({ live: value }) !== null ? null : '{"refresh": seconds}, with a number of seconds from 0.1 to 86400';
const search: MemberCheck = (value, { catalog, table }) => {
  const declared = readSearch({ search: value });
  if (declared !== undefined) return table ? faultOfSearch(catalog, table, declared) : null;
  return '{"columns": {"name of a column": "A"}, "config": "english"}, with weights from A to D, or {"column": "name of a tsvector"}';
};
const mappings: MemberCheck = (value, { labels }) => {
  if (!isJsonObject(value) || Object.values(value).some((item) => typeof item !== 'string')) return 'an object of names by label';
  const unknown = Object.keys(value).find((label) => !labels?.includes(label));
  return unknown === undefined ? null : `an object whose labels exist; "${unknown}" does not`;
};

const shape: MemberCheck = (value, { catalog }) => {
  const read = readShape(value, catalog);
  return read instanceof WrongShape ? read.reason : null;
};

export const directiveMembers = {
  schema: { inflect_names: flag, max_rows: count, max_depth: count, introspection: flag, additions },
  table: {
    name,
    description: text,
    max_rows: count,
    max_depth: count,
    totalCount: enabled,
    aggregate: enabled,
    primary_key_columns: columnNames,
    foreign_keys: list,
    search,
    additions,
    live,
  },
  column: { name, description: text },
  /** Besides those of every column. */
  'JSON column': { shape },
  relation: { local_name: name, foreign_name: name, ancestors_name: name, descendants_name: name },
  function: { name, description: text, live, max_rows: count },
  'composite type': { name, description: text },
  enum: { name, description: text, mappings },
} as const satisfies Record<string, Record<string, MemberCheck>>;

/** Finds the faults of the directive in a comment on an object of this kind. */
function findFaults(comment: string, kind: DirectiveKind, subject: Subject): DirectiveFault[] {
  const parsed = parseDirective(comment);
  if (parsed.kind === 'none') return [];
  if (parsed.kind === 'broken') {
    return [
      { fault: 'broken', message: `its comment directive is not valid JSON and is ignored (${parsed.problem}); correct the comment` },
    ];
  }
  if (!isJsonObject(parsed.value)) {
    return [{ fault: 'wrong type', message: 'its comment directive is not a JSON object and is ignored; write {"name": value}' }];
  }
  const members: Readonly<Record<string, MemberCheck>> = {
    ...(kind === 'JSON column' && directiveMembers.column),
    ...directiveMembers[kind],
  };
  return Object.entries(parsed.value).flatMap(([key, value]): DirectiveFault[] => {
    const expectation = Object.hasOwn(members, key) ? members[key] : undefined;
    if (!expectation) {
      const possible = Object.keys(members).join(', ');
      return [{ fault: 'unknown member', message: `"${key}" of its comment directive has no meaning here; supported: ${possible}` }];
    }
    const expected = value === null ? null : expectation(value, subject);
    return expected === null
      ? []
      : [{ fault: 'wrong type', message: `"${key}" of its comment directive is ignored; it must be ${expected}` }];
  });
}

export interface DirectiveProblem extends DirectiveFault {
  readonly object: 'schema' | TableKind | 'column' | 'relation' | 'function' | 'enum';
  /** Qualified: `public.account.balance`. */
  readonly name: string;
}

interface Commented extends Omit<Subject, 'catalog'> {
  readonly kind: DirectiveKind;
  readonly object: DirectiveProblem['object'];
  readonly comment: string | null;
  /** Called only if there is a fault. */
  readonly name: () => string;
}

/** Checks every directive in the exposed schemas. Yields after each object. */
export function* checkDirectives(catalog: Catalog): Generator<void, DirectiveProblem[]> {
  const problems: DirectiveProblem[] = [];
  for (const { kind, object, comment, name, ...subject } of commentedObjects(catalog)) {
    if (comment !== null) {
      for (const fault of findFaults(comment, kind, { catalog, ...subject })) problems.push({ object, name: name(), ...fault });
    }
    yield;
  }
  return problems;
}

function* commentedObjects(catalog: Catalog): Generator<Commented, void> {
  const schemaNames = new Map(catalog.schemas.map(({ id, name }) => [id, name]));
  const tableNames = new Map<number, string>();
  for (const { comment, name } of catalog.schemas) yield { kind: 'schema', object: 'schema', comment, name: () => name };
  for (const table of catalog.tables) {
    const tableName = qualifiedName(schemaNames.get(table.schemaId) ?? '', table.name);
    tableNames.set(table.id, tableName);
    yield { kind: 'table', object: tableKinds[table.kind], comment: table.comment, name: () => tableName, table };
    for (const column of table.columns)
      if (column.comment !== null) yield commentedColumn(catalog, column, () => qualifiedName(tableName, column.name));
  }
  for (const { comment, tableId, name } of catalog.foreignKeys) {
    yield { kind: 'relation', object: 'relation', comment, name: () => qualifiedName(tableNames.get(tableId) ?? '', name) };
  }
  for (const catalogFunction of catalog.functions) {
    yield { kind: 'function', object: 'function', comment: catalogFunction.comment, name: () => functionName(catalog, catalogFunction) };
  }
  for (const { comment, schemaId, name, columns } of catalog.composites) {
    const typeName = qualifiedName(schemaNames.get(schemaId) ?? '', name);
    if (comment !== null) yield { kind: 'composite type', object: 'composite type', comment, name: () => typeName };
    for (const column of columns)
      if (column.comment !== null) yield commentedColumn(catalog, column, () => qualifiedName(typeName, column.name));
  }
  for (const { comment, schema, name, labels } of catalog.types.values()) {
    yield { kind: 'enum', object: 'enum', comment, name: () => qualifiedName(schema, name), labels };
  }
}

function commentedColumn(catalog: Catalog, { comment, typeId }: CatalogColumn, name: () => string): Commented {
  return { kind: isJsonType(catalog, typeId) ? 'JSON column' : 'column', object: 'column', comment, name };
}
