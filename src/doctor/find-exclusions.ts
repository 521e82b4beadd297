/**
 * Findings about objects that are not in the API, each with the grant that would add it and what else is left out with it; and about
 * objects that have another name in the API, directives that are ignored, and parts of additions that give way.
 */
import type { Catalog } from '../catalog/catalog.ts';
import type { DirectiveProblem } from '../model/check-directives.ts';
import { readDirective, readMappings } from '../model/directives.ts';
import type { Table } from '../model/model.ts';
import { groupUnitNames } from '../model/naming/graphql-names.ts';
import { enumValueNames, functionName, qualifiedName, tableKinds } from '../model/naming/names.ts';
import { filterableRows, orderableFields } from '../model/relations/related-rows.ts';
import { writableRelations } from '../model/relations/writable-relations.ts';
import type { Exclusion, LackingPrivilege } from '../model/report.ts';
import { clashesWithBuckets, clashesWithFraction } from '../model/tables/column-uses.ts';
import { uniqueColumns } from '../model/tables/table-keys.ts';
import { type Examination, inWords, nameOf } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';

/** One finding per exclusion and renaming, and one per extension with functions that are not fields. */
export function findExclusions(examination: Examination): Finding[] {
  const { model } = examination;
  const exclusions = model.exclusions.map((exclusion) => {
    const { cause, object, name, lacking } = exclusion;
    return finding(cause, object, name, referToFinding(examination, exclusion), {
      remedy: remedyOf(examination, exclusion, lacking),
      contains: containedIn(examination, exclusion),
    });
  });
  const renamings = model.renamings.map(({ object, name, reason }) => finding('name-changed', object, name, reason));
  return [
    ...exclusions,
    ...renamings,
    ...findUnreadDirectives(examination),
    ...findExtensionFunctions(examination),
    ...findClashingRelations(examination),
    ...findClashingGroups(examination),
  ];
}

function remedyOf(examination: Examination, exclusion: Exclusion, lacking: LackingPrivilege | null): string | null {
  if (exclusion.cause === 'no-key') return keySql(examination, exclusion);
  if (exclusion.object === 'enum value' || (exclusion.object === 'enum' && exclusion.cause === 'illegal-name'))
    return mappingSql(examination, exclusion);
  return lacking && grantSql(examination, lacking);
}

/** The comment that gives each label without a name of its own in GraphQL one; other parts of a directive stay. */
function mappingSql({ catalog }: Examination, { id }: Exclusion): string | null {
  const type = catalog.types.get(id);
  const labels = type?.labels;
  if (!type || !labels) return null;
  const directive = readDirective(type.comment);
  const given = readMappings(directive);
  const names = enumValueNames(labels.map((label) => given.get(label) ?? label));
  const mappings = Object.fromEntries(labels.flatMap((label, place) => (names[place] === label ? [] : [[label, names[place]]])));
  if (Object.keys(mappings).length === 0) return null;
  const text = `@graphql(${JSON.stringify({ ...directive, mappings })})`.replaceAll("'", "''");
  return `comment on type ${type.sql} is '${text}'; -- replaces the comment of the type`;
}

const reference = /; see the finding for that table(?:, or expose its schema)?$/;
/** The tables that reasons name. */
const namedTable = /^(?:its target|it returns rows of) (?<table>.+?)(?: is|, which is) not in the API/;

/** The reason, with a reference only to a finding that there is: of the table, or else of its schema, or how to expose it. */
function referToFinding({ catalog, model }: Examination, { object, name, reason }: Exclusion): string {
  if (!reference.test(reason)) return reason;
  const named = namedTable.exec(reason)?.groups?.table;
  const table = named ?? (object === 'relation' ? name.slice(0, name.lastIndexOf('.')) : null);
  const start = reason.replace(reference, '');
  const isFound = (other: Exclusion): boolean => isTable(other) && (table === null ? name.includes(other.name) : other.name === table);
  if (model.exclusions.some(isFound)) return `${start}; see the finding for that table`;
  if (table === null) return start;
  const schema = model.exclusions.find((other) => other.object === 'schema' && table.startsWith(`${other.name}.`));
  if (schema !== undefined) return `${start}; see the finding for the schema ${schema.name}`;
  const isExposed = catalog.schemas.some((each) => table.startsWith(`${each.name}.`));
  return isExposed ? start : `${start}; expose its schema`;
}

function isTable({ object }: Exclusion): boolean {
  return Object.values<string>(tableKinds).includes(object);
}

function grantSql(examination: Examination, { privilege, id, column }: LackingPrivilege): string | null {
  const { catalog } = examination;
  const to = `to ${examination.roleSql};`;
  if (privilege === 'select') {
    const table = examination.catalogTable(id);
    const columns = column === null ? '' : ` (${examination.quote(column)})`;
    return table ? `grant select${columns} on table ${examination.tableSql(table)} ${to}` : null;
  }
  if (privilege === 'execute') {
    const catalogFunction = catalog.functions.find((candidate) => candidate.id === id);
    return catalogFunction ? `grant execute on ${examination.routineSql(catalogFunction)} ${to}` : null;
  }
  const schemas = [...catalog.schemas, ...catalog.operatorSchemas];
  const ofTypes = [...catalog.types.values()].flatMap(({ schemaId, schema, enumSchema }) =>
    [{ id: schemaId, name: schema }, enumSchema ?? []].flat(),
  );
  const ofFunction = catalog.functions.find(({ schemaId }) => schemaId === id);
  const name = schemas.find((schema) => schema.id === id)?.name ?? ofFunction?.schema ?? ofTypes.find((schema) => schema.id === id)?.name;
  return name === undefined ? null : `grant usage on schema ${examination.quote(name)} ${to}`;
}

/** Makes the columns of a unique index the primary key. A comment would replace the one that the table may have. */
function keySql(examination: Examination, { id }: Exclusion): string | null {
  const table = examination.catalogTable(id);
  const columns = table && uniqueColumns(table);
  if (!columns) return null;
  return `alter table ${examination.tableSql(table)} add primary key (${columns.map(({ name }) => examination.quote(name)).join(', ')});`;
}

function containedIn(examination: Examination, exclusion: Exclusion): string[] {
  const { object, id, name } = exclusion;
  if (object === 'schema') return contentOf(examination.catalog, id, name);
  const table = isTable(exclusion) ? examination.catalogTable(id) : undefined;
  return table ? table.columns.map((column) => `column ${qualifiedName(name, column.name)}`) : [];
}

function contentOf(catalog: Catalog, id: number, schema: string): string[] {
  const isInside = ({ schemaId }: { readonly schemaId: number }) => schemaId === id;
  const tables = catalog.tables.filter(isInside).flatMap((table) => {
    const name = qualifiedName(schema, table.name);
    const keys = catalog.foreignKeys.filter(({ tableId }) => tableId === table.id);
    return [
      `${tableKinds[table.kind]} ${name}`,
      ...table.columns.map((column) => `column ${qualifiedName(name, column.name)}`),
      ...keys.map((key) => `relation ${qualifiedName(name, key.name)}`),
    ];
  });
  const functions = catalog.functions.filter(isInside).map((catalogFunction) => `function ${functionName(catalog, catalogFunction)}`);
  const enums = [...catalog.types.values()].filter((type) => isInside(type) && type.labels);
  return [...tables, ...functions, ...enums.map((type) => `enum ${qualifiedName(schema, type.name)}`)];
}

/** One finding per extension, because users cannot change its functions. */
function findExtensionFunctions({ catalog, model, safety }: Examination): Finding[] {
  const present = new Set([...model.routines, ...model.tables.flatMap(({ computed }) => computed)].map(({ id }) => id));
  const usable = new Set(catalog.schemas.filter(({ name }) => model.schemas.includes(name)).map(({ id }) => id));
  const absent = catalog.functions.filter(
    (catalogFunction) => catalogFunction.extension && usable.has(catalogFunction.schemaId) && !present.has(catalogFunction.id),
  );
  const byExtension = Map.groupBy(absent, ({ id }) => safety.extensions.get(id) ?? '');
  return [...byExtension].map(([name, functions]) => {
    const message = `${functions.length} of its functions are not in the API, because no field can call them or the role cannot execute them`;
    return finding('extension-functions', 'extension', name, message, {
      contains: functions.map((catalogFunction) => `function ${functionName(catalog, catalogFunction)}`),
    });
  });
}

export function reportDirectives(problems: readonly DirectiveProblem[]): Finding[] {
  return problems.map(({ fault, object, name, message }) =>
    finding(fault === 'broken' ? 'broken-directive' : 'ignored-directive', object, name, message),
  );
}

function findUnreadDirectives(examination: Examination): Finding[] {
  return examination.safety.unreadDirectives.flatMap(({ tableId, object, name }) => {
    const table = examination.catalogTable(tableId);
    const message = 'its comment directive is ignored: they are read from schemas, tables, columns, foreign keys, functions and types';
    return table ? [finding('ignored-directive', object, `${examination.name(table)}.${name}`, message)] : [];
  });
}

function findClashingRelations({ model }: Examination): Finding[] {
  return model.tables.flatMap((table) => {
    const rows = table.additions.has('relationFilters') ? filterableRows(table, model.nodeIdField).clashing : [];
    const unfiltered = rows.map(({ fieldName }) => fieldName);
    const unordered = table.additions.has('relationOrder') ? orderableFields(table).clashing : [];
    const unwritten = writableRelations(table).clashing;
    const names = [...new Set([...unfiltered, ...unordered, ...unwritten])];
    if (names.length === 0) return [];
    const usesWithout = (name: string): string =>
      inWords([
        ...(unfiltered.includes(name) ? ['filters'] : []),
        ...(unordered.includes(name) ? ['orders'] : []),
        ...(unwritten.includes(name) ? ['nested writes'] : []),
      ]);
    const described = (name: string): string =>
      `${table.relations.some(({ fieldName }) => fieldName === name) ? 'the relation' : 'the computed field'} ${name}`;
    const lost = [...Map.groupBy(names, usesWithout)].map(
      ([where, lacking]) => `${where} have no member for ${inWords(lacking.map(described))}`,
    );
    const cause = names.length === 1 ? 'a column or an operator already has that name' : 'columns or operators already have those names';
    const message = `${lost.join(', and ')}, because ${cause}; choose another name for the relation, function or column with a comment directive`;
    return [finding('addition-gave-way', table.kind, nameOf(table), message)];
  });
}

/**
 * A finding for each table whose groups lack number ranges or the percentiles of a field, and for each type with a name that groups use.
 */
function findClashingGroups({ model }: Examination): Finding[] {
  const grouped = model.tables.filter(({ additions, aggregate }) => additions.has('groups') && aggregate);
  if (grouped.length === 0) return [];
  const gaveWay = (clashes: (table: Table) => boolean, problem: string): Finding[] =>
    grouped.filter(clashes).map(({ kind, schema, name }) => {
      const message = `${problem}; choose another name for the field with a comment directive`;
      return finding('addition-gave-way', kind, qualifiedName(schema, name), message);
    });
  const names: readonly string[] = Object.values(groupUnitNames);
  const message = (typeName: string) =>
    `its type is already named ${typeName}, so a type of groups gets a number; choose another name for it with a comment directive`;
  const tables = [...model.tables, ...model.rowTypes].filter(({ typeName }) => names.includes(typeName));
  const enums = model.enums.filter(({ typeName }) => names.includes(typeName));
  return [
    ...gaveWay((table) => clashesWithBuckets(table), 'rows cannot be grouped by ranges of numbers, because it has a field "bucket"'),
    ...gaveWay(clashesWithFraction, 'groups cannot be chosen or ordered by percentiles of its field "fraction"'),
    ...tables.map(({ kind, schema, name, typeName }) => finding('addition-gave-way', kind, qualifiedName(schema, name), message(typeName))),
    ...enums.map(({ schema, name, typeName }) => finding('addition-gave-way', 'enum', qualifiedName(schema, name), message(typeName))),
  ];
}
