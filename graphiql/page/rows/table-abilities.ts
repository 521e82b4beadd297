/** What a role may do with the rows of a table, as the schema that it sees says: filter, order, count, follow foreign keys, write. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { type ApiColumn, type ApiTable, describeColumn, idFieldOf } from '../read-tables.ts';

export interface TableAbilities {
  /** The operators that a column can be filtered by, the most useful first. */
  readonly operators: Readonly<Record<string, readonly string[]>>;
  readonly orderable: ReadonlySet<string>;
  /** The types of the arguments, as in SDL. */
  readonly argumentTypes: Readonly<Record<string, string>>;
  readonly hasTotalCount: boolean;
  readonly identity: RowIdentity;
  /** The to-one relations. */
  readonly links: readonly RowLink[];
  /** Each is null if the role may not do it. */
  readonly insert: WriteField | null;
  readonly update: WriteField | null;
  readonly delete: WriteField | null;
}

/** What tells the rows of a table apart. */
export interface RowIdentity {
  /** The field that identifies a row across all tables, such as `nodeId`; null if there is none, or rows cannot be found by it. */
  readonly field: string | null;
  /** The columns of the primary key, if the schema names them and rows can be found by them. */
  readonly key: readonly string[];
}

export interface RowLink {
  /** The field of the relation: `species`. */
  readonly field: string;
  /** The type of the row that it leads to. */
  readonly target: string;
  readonly identity: RowIdentity;
  /** The column of the target that names a row to people; null if it has no text. */
  readonly label: string | null;
  /** The column of this table that refers to it, if a name says so: `speciesId`. */
  readonly column: string | null;
}

export interface WriteField {
  /** The field of Mutation. */
  readonly field: string;
  /** The columns that it can set, by name. */
  readonly inputs: ReadonlyMap<string, ApiColumn>;
}

const knownOperators =
  'eq ilike like neq gt gte lt lte containsText startsWith endsWith eqi in notIn inI contains containedBy overlaps regex iregex is'.split(
    ' ',
  );

export function readAbilities(schema: GraphQLSchema, table: ApiTable, tables: readonly ApiTable[]): TableAbilities {
  const collection = schema.getQueryType()!.getFields()[table.collection]!;
  const typeOf = (name: string) => collection.args.find((argument) => argument.name === name)?.type;
  const connection = getNamedType(collection.type);
  const operators = operatorsOf(schema, table);
  const columns = new Set(table.columns.map(({ name }) => name));
  return {
    operators,
    // JSON is ordered by a path in it.
    orderable: new Set(
      inputFieldsOf(typeOf('orderBy')).flatMap(({ name, type }) => (columns.has(name) && isEnumType(getNamedType(type)) ? [name] : [])),
    ),
    argumentTypes: Object.fromEntries(collection.args.map(({ name, type }) => [name, String(type)])),
    hasTotalCount: isObjectType(connection) && connection.getFields().totalCount !== undefined,
    identity: readIdentity(schema, table),
    links: readLinks(schema, table, tables),
    ...readWrites(schema, table, readIdentity(schema, table)),
  };
}

function inputFieldsOf(type: unknown) {
  const named = type === undefined ? null : getNamedType(type as never);
  return isInputObjectType(named) ? Object.values(named.getFields()) : [];
}

function operatorsOf(schema: GraphQLSchema, table: ApiTable): Readonly<Record<string, readonly string[]>> {
  const filter = schema
    .getQueryType()!
    .getFields()
    [table.collection]!.args.find(({ name }) => name === 'filter')?.type;
  // Relations and `and`, `or`, `not` are members of the filter too.
  const names = new Set([...table.columns.map(({ name }) => name), idFieldOf(rowTypeOf(schema, table))]);
  const objects = new Set(table.columns.flatMap(({ name, selection }) => (selection === null ? [] : [name])));
  const operators = inputFieldsOf(filter).flatMap(({ name, type }) => {
    const known = new Set(inputFieldsOf(type).map((field) => field.name));
    // The filter of an object has its members, which may have names of operators.
    const possible = objects.has(name) ? ['is'] : names.has(name) ? knownOperators : [];
    const usable = possible.filter((operator) => known.has(operator));
    return usable.length === 0 ? [] : [[name, usable] as const];
  });
  return Object.fromEntries(operators);
}

function rowTypeOf(schema: GraphQLSchema, { type }: ApiTable): GraphQLObjectType | null {
  const found = schema.getType(type);
  return isObjectType(found) ? found : null;
}

/** The primary key is what the field of Query that finds one row asks for: `speciesByPk(id: …)`. */
function readIdentity(schema: GraphQLSchema, table: ApiTable): RowIdentity {
  const operators = operatorsOf(schema, table);
  const isByKey = ({ name, type, args }: GraphQLField<unknown, unknown>): boolean =>
    /ByPk\d*$/i.test(name) && getNamedType(type).name === table.type && !isListType(type) && args.length > 0;
  const byKey = Object.values(schema.getQueryType()!.getFields()).find(isByKey);
  const key = byKey?.args.map(({ name }) => name) ?? [];
  // NaN and infinity are no Float that a filter takes.
  const exact = new Set(table.columns.flatMap(({ name, leaf }) => (leaf === 'Float' ? [] : [name])));
  const field = idFieldOf(rowTypeOf(schema, table));
  return {
    field: field !== null && operators[field]?.includes('eq') ? field : null,
    key: key.every((name) => operators[name]?.includes('eq') && exact.has(name)) ? key : [],
  };
}

function readLinks(schema: GraphQLSchema, table: ApiTable, tables: readonly ApiTable[]): readonly RowLink[] {
  return table.relations.flatMap(({ field, target, isMany }) => {
    const found = tables.find(({ type }) => type === target);
    if (isMany || found === undefined) return [];
    const identity = readIdentity(schema, found);
    if (identity.field === null && identity.key.length === 0) return [];
    return [{ field, target, identity, label: labelOf(found), column: columnOf(table, field) }];
  });
}

const namesOfLabels = ['name', 'title', 'label', 'fullname', 'displayname', 'username', 'email', 'code', 'slug'];

function labelOf({ columns }: ApiTable): string | null {
  const texts = columns.filter(({ leaf, isList }) => leaf === 'String' && !isList).map(({ name }) => name);
  const named = namesOfLabels.flatMap((label) => texts.filter((name) => plain(name) === label));
  return named[0] ?? texts[0] ?? null;
}

/** The schema does not say which columns a relation follows; `species` and `speciesId`, or `species_id`, belong together by name. */
function columnOf({ columns }: ApiTable, field: string): string | null {
  const isOfField = ({ name, isList }: ApiColumn): boolean => !isList && [`${plain(field)}id`, plain(field)].includes(plain(name));
  return columns.find(isOfField)?.name ?? null;
}

/** A name without what inflection changes. */
export function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

type Writes = Pick<TableAbilities, 'insert' | 'update' | 'delete'>;

/** Found by their arguments and their response: their names may be any. What cannot be told apart cannot be changed one by one. */
function readWrites(schema: GraphQLSchema, table: ApiTable, identity: RowIdentity): Writes {
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(({ type }) => {
    const response = getNamedType(type);
    const records = isObjectType(response) ? response.getFields().records : undefined;
    return isNonNullType(records?.type) && isListType(records.type.ofType) && getNamedType(records.type).name === table.type;
  });
  const find = (argument: string, without = ''): WriteField | null => {
    const found = fields.find(({ args }) => args.some(({ name }) => name === argument) && !args.some(({ name }) => name === without));
    if (found === undefined) return null;
    const inputs = inputFieldsOf(found.args.find(({ name }) => name === argument)?.type).flatMap((field) => {
      const column = table.columns.find(({ name }) => name === field.name);
      const input = column === undefined ? null : describeColumn(field);
      // Inputs allow null where the column does not.
      return input === null || column === undefined ? [] : [[field.name, { ...input, isRequired: column.isRequired }] as const];
    });
    return { field: found.name, inputs: new Map(inputs) };
  };
  const isKnown = identity.field !== null || identity.key.length > 0;
  return { insert: find('objects'), update: isKnown ? find('set') : null, delete: isKnown ? find('filter', 'set') : null };
}
