/**
 * The shape that a comment directive gives a JSON column: `{"shape": …}` with the name of a composite type, or with a part of JSON Schema
 * (https://json-schema.org/draft/2020-12): `type`, `properties`, `items`, `format`, `title` and `description`. What only restricts values,
 * such as `required`, changes nothing, because nothing checks the values.
 */
import type { Catalog, CatalogType } from '../catalog/catalog.ts';
import { isJsonObject } from '../errors/api-error.ts';
import { isFreeName } from './naming/names.ts';
import { namedTypes } from './types/named-types.ts';
import { postgresType } from './types/postgres-types.ts';
import type { ScalarName } from './types/scalars.ts';

export type Shape = ValueShape | ListShape | ObjectShape;
interface ValueShape {
  readonly kind: 'value';
  /** A scalar, or an enum of the database by its id. */
  readonly of: ShapeScalar | number;
}
export interface ListShape {
  readonly kind: 'list';
  readonly element: Shape;
}
export interface ObjectShape {
  readonly kind: 'object';
  /** The name of its type; null for one derived from its place. */
  readonly title: string | null;
  readonly description: string | null;
  readonly members: readonly ShapeMember[];
}
interface ShapeMember {
  readonly name: string;
  readonly description: string | null;
  readonly shape: Shape;
}

/** The types of values, by `type` and `format` of JSON Schema. */
export const shapeScalars = {
  string: namedTypes.text,
  'string date': namedTypes.date,
  'string date-time': namedTypes.timestamptz,
  'string uuid': namedTypes.uuid,
  integer: namedTypes.int4,
  'integer int64': namedTypes.int8,
  number: namedTypes.float8,
  'number decimal': namedTypes.numeric,
  boolean: namedTypes.bool,
  json: namedTypes.jsonb,
} as const;
type ShapeScalar = keyof typeof shapeScalars;

/** Of the attributes of composite types; others are texts. */
const scalarShapes: Partial<Record<ScalarName, ShapeScalar>> = {
  Int: 'integer',
  BigInt: 'integer int64',
  Float: 'number',
  BigFloat: 'number decimal',
  Boolean: 'boolean',
  Date: 'string date',
  Datetime: 'string date-time',
  UUID: 'string uuid',
  JSON: 'json',
};

/** Why a shape is none, for whoever wrote it. */
export class WrongShape {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

const deepest = 10;
const mostMembers = 200;
const unsupported = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'prefixItems', 'patternProperties'];
const expected = 'the name of a composite type, or a JSON Schema of an object or an array of objects';

/** Reads the value of `shape`, which must have members. */
export function readShape(value: unknown, catalog: Pick<Catalog, 'composites' | 'types'>): ObjectShape | ListShape | WrongShape {
  const shape = typeof value === 'string' ? shapeOfName(value, catalog) : parse(value, '', 1);
  if (shape instanceof WrongShape || shape.kind === 'object') return shape;
  return shape.kind === 'list' && shape.element.kind === 'object' ? shape : new WrongShape(expected);
}

function parse(value: unknown, path: string, depth: number): Shape | WrongShape {
  const at = (problem: string) => new WrongShape(`${expected}; ${path === '' ? '' : `at ${path}: `}${problem}`);
  if (!isJsonObject(value)) return at('a schema is an object');
  const without = unsupported.find((keyword) => Object.hasOwn(value, keyword));
  if (without !== undefined) return at(`"${without}" is not supported`);
  if (depth > deepest) return at(`it nests more than ${deepest} levels deep`);
  const type = typeOf(value['type']);
  if (type === undefined) return at('"type" is none of object, array, string, integer, number and boolean');
  if (type === 'object') return parseObject(value, path, depth, at);
  if (type === 'array' && value['items'] !== undefined) {
    const element = parse(value['items'], within(path, 'items'), depth + 1);
    // GraphQL has lists of lists, but arrays of PostgreSQL have none of different lengths.
    return element instanceof WrongShape || element.kind !== 'list' ? asList(element) : { kind: 'value', of: 'json' };
  }
  if (type === null || type === 'array') return { kind: 'value', of: 'json' };
  const formatted = `${type} ${String(value['format'])}`;
  return { kind: 'value', of: isScalar(formatted) ? formatted : isScalar(type) ? type : 'json' };
}

function within(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function asList(element: Shape | WrongShape): ListShape | WrongShape {
  return element instanceof WrongShape ? element : { kind: 'list', element };
}

function parseObject(
  { properties, title = null, description }: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
  at: (problem: string) => WrongShape,
): Shape | WrongShape {
  if (title !== null && (typeof title !== 'string' || !isFreeName(title))) return at('"title" is not a valid GraphQL name');
  if (properties === undefined && depth > 1) return { kind: 'value', of: 'json' };
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return at('"properties" is no object with members');
  if (Object.keys(properties).length > mostMembers) return at(`it has more than ${mostMembers} members`);
  const members: ShapeMember[] = [];
  for (const [name, schema] of Object.entries(properties)) {
    const shape = parse(schema, within(path, `properties.${name}`), depth + 1);
    if (shape instanceof WrongShape) return shape;
    members.push({ name, description: descriptionOf(schema), shape });
  }
  return { kind: 'object', title, description: typeof description === 'string' ? description : null, members };
}

function descriptionOf(schema: unknown): string | null {
  const description = isJsonObject(schema) ? schema['description'] : null;
  return typeof description === 'string' ? description : null;
}

function isScalar(name: string): name is ShapeScalar {
  return Object.hasOwn(shapeScalars, name);
}

const types = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'json'];

/** `type`, also as a list with "null"; null if there is none or several, undefined for another. */
function typeOf(value: unknown): string | null | undefined {
  const all = (Array.isArray(value) ? value : value === undefined ? [] : [value]).filter((each) => each !== 'null');
  if (!all.every((each) => types.includes(each) && each !== 'json')) return undefined;
  return all.length === 1 ? String(all[0]) : null;
}

function shapeOfName(written: string, catalog: Parameters<typeof readShape>[1]): Shape | WrongShape {
  const type = [...catalog.types.values()].find(
    ({ kind, schema, name, relationId }) =>
      kind === 'c' && [name, `${schema}.${name}`].includes(written) && catalog.composites.some(({ id }) => id === relationId),
  );
  return type ? ofType(type.id, catalog) : new WrongShape(`${expected}; there is no composite type ${written}`);
}

function ofComposite({ columns }: Catalog['composites'][number], catalog: Parameters<typeof readShape>[1]): ObjectShape {
  const members = columns.map(({ name, typeId }): ShapeMember => ({ name, description: null, shape: ofType(typeId, catalog) }));
  return { kind: 'object', title: null, description: null, members };
}

function ofType(typeId: number, catalog: Parameters<typeof readShape>[1]): Shape {
  const type = catalog.types.get(typeId);
  if (type === undefined) return { kind: 'value', of: 'string' };
  if (type.elementId !== 0) return { kind: 'list', element: ofType(type.elementId, catalog) };
  if (type.kind === 'd' && type.baseId !== 0) return ofType(type.baseId, catalog);
  const composite = type.kind === 'c' ? catalog.composites.find(({ id }) => id === type.relationId) : undefined;
  if (composite) return ofComposite(composite, catalog);
  if (type.kind === 'e') return { kind: 'value', of: type.id };
  return { kind: 'value', of: scalarShapes[postgresType(type).scalar] ?? 'string' };
}

/** Whether it is json or jsonb, or a domain over one. */
export function isJsonType({ types: all }: Pick<Catalog, 'types'>, typeId: number): boolean {
  const type: CatalogType | undefined = all.get(typeId);
  if (type?.kind === 'd' && type.baseId !== 0) return isJsonType({ types: all }, type.baseId);
  return type !== undefined && postgresType(type).scalar === 'JSON';
}
