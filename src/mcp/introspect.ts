/**
 * What a role may know of its schema, read by introspection: where that is off, nothing is known. Each query builds the schema that
 * introspection shows, so it asks for as much as the limits of the role allow, which count the fields of each alias.
 */
import type { ExecutionResult } from '../engine/request.ts';
import { ApiError } from '../errors/api-error.ts';
import type { AgentSession } from './session.ts';

export interface TypeReference {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: TypeReference | null;
}

export interface DescribedInput {
  readonly name: string;
  readonly description: string | null;
  readonly type: TypeReference;
  readonly defaultValue: string | null;
}

export interface DescribedField {
  readonly name: string;
  readonly description: string | null;
  readonly args: readonly DescribedInput[];
  readonly type: TypeReference;
  readonly isDeprecated: boolean;
  readonly deprecationReason: string | null;
}

export interface DescribedType {
  readonly kind: string;
  readonly name: string;
  readonly description: string | null;
  readonly fields: readonly DescribedField[] | null;
  readonly inputFields: readonly DescribedInput[] | null;
  readonly enumValues: readonly { readonly name: string; readonly description: string | null }[] | null;
  readonly interfaces: readonly TypeReference[] | null;
  readonly possibleTypes: readonly TypeReference[] | null;
}

interface TypeHead {
  readonly kind: string;
  readonly name: string;
  readonly description: string | null;
}

export interface SchemaHead {
  readonly queryType: { readonly name: string };
  readonly mutationType: { readonly name: string } | null;
  readonly types: readonly TypeHead[];
}

/** Whether the role may introspect its schema. Rejects with `ApiError` if that cannot be found out. */
export async function mayIntrospect(session: AgentSession): Promise<boolean> {
  const { errors } = await session.introspect('{ __schema { queryType { name } } }');
  const [error] = errors ?? [];
  if (error === undefined) return true;
  if (error.extensions.code === 'GRAPHQL_VALIDATION_FAILED') return false;
  throw new ApiError(error.extensions.code, error.message);
}

/** The root types, and all types by name. */
export async function readSchemaHead(session: AgentSession): Promise<SchemaHead> {
  const text = '{ __schema { queryType { name } mutationType { name } types { kind name description } } }';
  const { __schema: schema } = dataOf(await session.introspect(text));
  const head = schema as SchemaHead;
  return { ...head, types: head.types.filter(({ name }) => !name.startsWith('__')) };
}

/** How many types a query describes: as many as the default limits allow, and as the strict ones do. */
const typesAtATime = 60;
const fewTypes = 5;

/** The types with these names, which must be names of GraphQL; those that there are, in the same order. */
export async function readTypes(session: AgentSession, names: readonly string[]): Promise<readonly DescribedType[]> {
  const found: DescribedType[] = [];
  let most = typesAtATime;
  for (let start = 0; start < names.length; ) {
    const asked = names.slice(start, start + most);
    const fields = asked.map((name, index) => `t${index}: __type(name: ${JSON.stringify(name)}) { ...Described }`);
    const result = await session.introspect(`{ ${fields.join(' ')} } ${fragments}`);
    const isTooMuch = result.errors?.[0]?.extensions.code.startsWith('TOO_MANY_') ?? false;
    if (isTooMuch && asked.length > fewTypes) {
      most = fewTypes;
      continue;
    }
    const data = dataOf(result);
    for (const index of asked.keys()) {
      const type = data[`t${index}`] as DescribedType | null;
      if (type !== null) found.push(type);
    }
    start += asked.length;
  }
  return found;
}

const fragments = `
  fragment Described on __Type {
    kind name description
    fields(includeDeprecated: true) {
      name description isDeprecated deprecationReason
      args { ...Input }
      type { ...Reference }
    }
    inputFields { ...Input }
    enumValues(includeDeprecated: true) { name description }
    interfaces { kind name }
    possibleTypes { kind name }
  }
  fragment Input on __InputValue { name description defaultValue type { ...Reference } }
  fragment Reference on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;

function dataOf({ data, errors }: ExecutionResult): Record<string, unknown> {
  const [error] = errors ?? [];
  if (error !== undefined) throw new ApiError(error.extensions.code, error.message);
  return data ?? {};
}

/** The reference as GraphQL writes it, such as `[Bird!]!`. */
export function writeReference({ kind, name, ofType }: TypeReference): string {
  if (ofType === null || ofType === undefined) return name ?? '';
  return kind === 'NON_NULL' ? `${writeReference(ofType)}!` : `[${writeReference(ofType)}]`;
}
