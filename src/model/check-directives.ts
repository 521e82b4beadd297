/**
 * What comment directives may contain for each kind of object, and a check that finds those that have no effect: broken ones, members of
 * the wrong type, and unknown members. They are ignored, but a log line and the doctor report them. The result does not depend on the role.
 */
import type { Catalog, CatalogColumn, CatalogForeignKey, CatalogFunction, CatalogTable, CatalogType } from '../catalog/catalog.ts';
import { isJsonObject } from '../errors/api-error.ts';
import { additionNames } from '../settings/additions.ts';
import { hasMisspelled, parseDirective, readDirective, readForeignKeys, readLiveRefresh, readSearch } from './directives.ts';
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

/** What a directive is on. */
interface Subject {
  readonly catalog: Catalog;
  readonly type?: CatalogType;
  readonly table?: CatalogTable;
  readonly foreignKey?: CatalogForeignKey;
  readonly calledFunction?: CatalogFunction;
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
const columnNames: MemberCheck = (value, { table }) => {
  const isValid = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  if (!isValid) return 'a list of column names';
  return table?.indexes.some(({ primary }) => primary) ? 'left out, because the table has a primary key' : null;
};
const maxDepth: MemberCheck = (value, subject) => {
  const { catalog, table } = subject;
  const isRecursive = table === undefined || catalog.views.has(table.id) || refersToItself(catalog, table);
  return isRecursive ? count(value, subject) : 'left out, because no key of the table refers to itself';
};
const lineageName: MemberCheck = (value, subject) => {
  const { foreignKey } = subject;
  const isRecursive = foreignKey === undefined || foreignKey.tableId === foreignKey.targetId;
  return isRecursive ? name(value, subject) : 'left out, because the key does not refer to its own table';
};
const setSize: MemberCheck = (value, subject) => {
  const { catalog, calledFunction: called } = subject;
  if (called?.returnsSet === false) return 'left out, because the function returns no set';
  const relationId = called && catalog.types.get(called.resultTypeId)?.relationId;
  const isOfTable = relationId !== undefined && catalog.tables.some(({ id }) => id === relationId);
  return isOfTable ? 'left out, because the function returns rows of a table, whose comment may have it' : count(value, subject);
};
const list: MemberCheck = (value) => (Array.isArray(value) ? null : 'a list');
const additions: MemberCheck = (value) => {
  const isValid = isJsonObject(value) && Object.values(value).every((item) => typeof item === 'boolean');
  const unknown = isValid ? Object.keys(value).find((key) => !(additionNames as readonly string[]).includes(key)) : undefined;
  if (isValid && unknown === undefined) return null;
  return `an object of true or false by the name of an addition (${additionNames.join(', ')})`;
};
const live: MemberCheck = (value, { calledFunction: called }) => {
  if (called?.volatile) return 'left out, because the function is volatile, and so a mutation';
  return readLiveRefresh({ live: value }) !== null ? null : '{"refresh": seconds}, with a number of seconds from 0.1 to 86400';
};
const search: MemberCheck = (value, { catalog, table }) => {
  const declared = readSearch({ search: value });
  if (declared !== undefined) return table ? faultOfSearch(catalog, table, declared) : null;
  return '{"columns": {"name of a column": "A"}, "config": "english"}, with weights from A to D, or {"column": "name of a tsvector"}';
};
const domainName: MemberCheck = (value, subject) => {
  const base = subject.catalog.types.get(subject.type?.baseId ?? 0);
  const hasScalar = base !== undefined && base.kind !== 'c' && base.category !== 'A';
  return hasScalar ? name(value, subject) : 'left out, because only domains over scalars and enums have a type of their own';
};
const mappings: MemberCheck = (value, { type }) => {
  if (!isJsonObject(value) || Object.values(value).some((item) => typeof item !== 'string')) return 'an object of names by label';
  const unknown = Object.keys(value).find((label) => !type?.labels?.includes(label));
  return unknown === undefined ? null : `an object whose labels exist; "${unknown}" does not`;
};

const shape: MemberCheck = (value, { catalog }) => {
  const read = readShape(value, catalog);
  return read instanceof WrongShape ? read.reason : null;
};

/** Whether a key of the table, or one that its directive declares, refers to the table. */
function refersToItself({ foreignKeys, schemas }: Catalog, { id, schemaId, name: tableName, comment }: CatalogTable): boolean {
  const schema = schemas.find((each) => each.id === schemaId)?.name;
  return (
    foreignKeys.some(({ tableId, targetId }) => tableId === id && targetId === id) ||
    readForeignKeys(readDirective(comment)).some((key) => key?.foreignTable === tableName && key.foreignSchema === schema)
  );
}

export const directiveMembers = {
  schema: { inflect_names: flag, max_rows: count, max_depth: count, introspection: flag, additions },
  table: {
    name,
    description: text,
    max_rows: count,
    max_depth: maxDepth,
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
  relation: { local_name: name, foreign_name: name, ancestors_name: lineageName, descendants_name: lineageName },
  function: { name, description: text, live, max_rows: setSize },
  'composite type': { name, description: text },
  domain: { name: domainName, description: text },
  enum: { name, description: text, mappings },
} as const satisfies Record<string, Record<string, MemberCheck>>;

/** The members of values that are objects. */
const innerMembers: Readonly<Record<string, readonly string[]>> = { totalCount: ['enabled'], aggregate: ['enabled'], live: ['refresh'] };
/** The members of each of the `foreign_keys`, with those that are names. */
const keyNames = ['local_name', 'foreign_name', 'ancestors_name', 'descendants_name'];
const keyMembers = [...keyNames, 'local_columns', 'foreign_schema', 'foreign_table', 'foreign_columns'];

/** Finds the faults of the directive in a comment on an object of this kind. */
function findFaults(comment: string, kind: DirectiveKind, subject: Subject): DirectiveFault[] {
  const parsed = parseDirective(comment);
  if (parsed.kind === 'none') {
    const message = 'its comment has what looks like a directive, but is none; write @graphql({"name": value})';
    return hasMisspelled(comment) ? [{ fault: 'broken', message }] : [];
  }
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
  const directive = parsed.value;
  const others = 'its comment has several directives, of which only the first is read; write one with all members';
  const faults = Object.entries(directive).flatMap(([key, value]): DirectiveFault[] => {
    const expectation = Object.hasOwn(members, key) ? members[key] : undefined;
    if (!expectation) {
      const possible = Object.keys(members).join(', ');
      return [{ fault: 'unknown member', message: `"${key}" of its comment directive has no meaning here; supported: ${possible}` }];
    }
    const expected = value === null ? null : expectation(value, subject);
    return expected === null ? faultsWithin(key, value) : [wrongType(`"${key}" of its comment directive`, expected)];
  });
  return hasMisspelled(parsed.rest) ? [...faults, { fault: 'broken', message: others }] : faults;
}

function wrongType(what: string, expected: string): DirectiveFault {
  return { fault: 'wrong type', message: `${what} is ignored; it must be ${expected}` };
}

function faultsWithin(key: string, value: unknown): DirectiveFault[] {
  if (key === 'foreign_keys' && Array.isArray(value))
    return value.flatMap((entry, index) => [
      ...unknownMembers(`foreign_keys[${index}]`, entry, keyMembers),
      ...keyNames.flatMap((member) =>
        isJsonObject(entry) && typeof entry[member] === 'object' && entry[member] !== null
          ? [wrongType(`"${member}" of foreign_keys[${index}] in its comment directive`, 'a name')]
          : [],
      ),
    ]);
  return Object.hasOwn(innerMembers, key) ? unknownMembers(`"${key}"`, value, innerMembers[key]!) : [];
}

function unknownMembers(where: string, value: unknown, members: readonly string[]): DirectiveFault[] {
  const unknown = isJsonObject(value) ? Object.keys(value).filter((key) => !members.includes(key)) : [];
  const supported = members.join(', ');
  return unknown.map((key) => {
    return {
      fault: 'unknown member',
      message: `"${key}" of ${where} in its comment directive has no meaning here; supported: ${supported}`,
    };
  });
}

export interface DirectiveProblem extends DirectiveFault {
  readonly object: 'schema' | TableKind | 'column' | 'relation' | 'function' | 'domain' | 'enum';
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
  for (const foreignKey of catalog.foreignKeys) {
    const { comment, tableId, name } = foreignKey;
    yield { kind: 'relation', object: 'relation', comment, name: () => qualifiedName(tableNames.get(tableId) ?? '', name), foreignKey };
  }
  for (const calledFunction of catalog.functions) {
    const { comment } = calledFunction;
    yield { kind: 'function', object: 'function', comment, name: () => functionName(catalog, calledFunction), calledFunction };
  }
  for (const { comment, schemaId, name, columns } of catalog.composites) {
    const typeName = qualifiedName(schemaNames.get(schemaId) ?? '', name);
    if (comment !== null) yield { kind: 'composite type', object: 'composite type', comment, name: () => typeName };
    for (const column of columns)
      if (column.comment !== null) yield commentedColumn(catalog, column, () => qualifiedName(typeName, column.name));
  }
  for (const type of catalog.types.values()) {
    const object = type.kind === 'd' ? 'domain' : 'enum';
    yield { kind: object, object, comment: type.comment, name: () => qualifiedName(type.schema, type.name), type };
  }
}

function commentedColumn(catalog: Catalog, { comment, typeId }: CatalogColumn, name: () => string): Commented {
  return { kind: isJsonType(catalog, typeId) ? 'JSON column' : 'column', object: 'column', comment, name };
}
