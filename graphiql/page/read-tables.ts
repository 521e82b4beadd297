/**
 * Reads tables from the schema that a role sees, with columns and relations under their names in the API: there is a table for each field
 * of Query whose type is a `…Connection`.
 */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

export interface ApiTable {
  /** The type of its rows: `Species`. */
  readonly type: string;
  /** The field of Query: `speciesCollection`. */
  readonly collection: string;
  readonly description: string | null;
  readonly columns: readonly ApiColumn[];
  readonly relations: readonly ApiRelation[];
}

export interface ApiColumn {
  readonly name: string;
  /** As in SDL: `[String]!`. */
  readonly type: string;
  /** The name of the scalar or enum; `JSON` for objects. */
  readonly leaf: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** The values of an enum; null for scalars. */
  readonly labels: readonly string[] | null;
  /** Whether its values are JSON themselves rather than its text: objects, and all JSON of a server with `--json object`. */
  readonly isBareJson: boolean;
  /** What to select of a value that is an object, of a composite type or with a shape: `{ city zip }`; null for others. */
  readonly selection: string | null;
}

export interface ApiRelation {
  readonly field: string;
  /** The type of the rows that it leads to. */
  readonly target: string;
  /** Whether it leads to many rows. */
  readonly isMany: boolean;
}

/** The tables, in the order of the schema. */
export function readTables(schema: GraphQLSchema): readonly ApiTable[] {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  const rows = fields.flatMap((field) => {
    const type = field.name.endsWith('Collection') ? rowTypeOf(field.type) : null;
    return type === null ? [] : [[field.name, type] as const];
  });
  const known = new Set(rows.map(([, { name }]) => name));
  return rows.map(([collection, type]) => readTable(collection, type, known));
}

function readTable(collection: string, type: GraphQLObjectType, known: ReadonlySet<string>): ApiTable {
  const fields = Object.values(type.getFields()).filter((field) => rowTypeOf(field.type) !== null || isColumnLike(field));
  return {
    type: type.name,
    collection,
    description: type.description ?? null,
    columns: fields.flatMap((field) => readColumn(field, fields, known)),
    relations: fields.flatMap((field) => readRelation(field, known)),
  };
}

/** Computed fields may have arguments; columns have none, but the path into a JSON document. */
function isColumnLike({ args, type }: GraphQLField<unknown, unknown>): boolean {
  return args.length === 0 || (getNamedType(type).name === 'JSON' && args.every(({ name }) => name === 'path'));
}

function readColumn(
  field: GraphQLField<unknown, unknown>,
  all: readonly GraphQLField<unknown, unknown>[],
  known: ReadonlySet<string>,
): ApiColumn[] {
  const type = getNamedType(field.type);
  if (isObjectType(type)) {
    // The text of a range says as much as its bounds.
    const isOfRange = all.some(({ name }) => field.name === `${name}Bounds`);
    const selection = known.has(type.name) || isOfRange || rowTypeOf(type) !== null ? null : selectionOf(type, [], known);
    return selection === null ? [] : [{ ...shapeOf(field), leaf: 'JSON', labels: null, isBareJson: true, selection }];
  }
  const column = describeColumn(field);
  return column === null || column.leaf === 'ID' ? [] : [column];
}

/** How deep the members of a value are shown. */
const mostLevels = 5;

/** All members that need no arguments, but no rows of tables (`known`); null if there are none. */
function selectionOf(type: GraphQLObjectType, outer: readonly GraphQLObjectType[], known: ReadonlySet<string>): string | null {
  const members = Object.values(type.getFields()).flatMap((field) => {
    const inner = getNamedType(field.type);
    if (field.args.some((argument) => isNonNullType(argument.type))) return [];
    if (!isObjectType(inner)) return [field.name];
    const isTooDeep = outer.includes(inner) || outer.length + 1 >= mostLevels || rowTypeOf(inner) !== null || known.has(inner.name);
    const selection = isTooDeep ? null : selectionOf(inner, [...outer, type], known);
    return selection === null ? [] : [`${field.name} ${selection}`];
  });
  return members.length === 0 ? null : `{ ${members.join(' ')} }`;
}

/** The field of a column as a query selects it. */
export function writeColumn({ name, selection }: ApiColumn): string {
  return selection === null ? name : `${name} ${selection}`;
}

/** A field, or a member of an input, as a column; null if its values are objects. */
export function describeColumn({ name, type }: { readonly name: string; readonly type: GraphQLType }): ApiColumn | null {
  const leaf = getNamedType(type);
  if (!isLeafType(leaf)) return null;
  const labels = isEnumType(leaf) ? leaf.getValues().map((value) => value.name) : null;
  const isBareJson = leaf.name === 'JSON' && leaf.description?.startsWith(bareJson) === true;
  return { ...shapeOf({ name, type }), leaf: leaf.name, labels, isBareJson, selection: null };
}

/** How the scalar begins its description if responses have the JSON itself. */
const bareJson = 'Any value of JSON';

function shapeOf({ name, type }: { readonly name: string; readonly type: GraphQLType }) {
  const nullable = isNonNullType(type) ? type.ofType : type;
  return { name, type: String(type), isList: isListType(nullable), isRequired: isNonNullType(type) };
}

function readRelation({ name, type }: GraphQLField<unknown, unknown>, known: ReadonlySet<string>): ApiRelation[] {
  const many = rowTypeOf(type);
  if (many !== null) return known.has(many.name) ? [{ field: name, target: many.name, isMany: true }] : [];
  const one = getNamedType(type);
  return known.has(one.name) ? [{ field: name, target: one.name, isMany: false }] : [];
}

/** The type of the rows in a connection; null for other types. */
function rowTypeOf(type: GraphQLOutputType): GraphQLObjectType | null {
  const edges = objectFieldOf(getNamedType(type), 'edges');
  const node = objectFieldOf(edges, 'node');
  return isObjectType(node) ? node : null;
}

/** The field that identifies a row across all tables, whatever the setting `nodeIdField` calls it; null if there is none. */
export function idFieldOf(type: GraphQLObjectType | null): string | null {
  const found = Object.values(type?.getFields() ?? {}).find((field) => String(field.type) === 'ID!' && field.args.length === 0);
  return found?.name ?? null;
}

function objectFieldOf(type: unknown, field: string): unknown {
  if (!isObjectType(type)) return null;
  const found = type.getFields()[field];
  return found === undefined ? null : getNamedType(found.type);
}
