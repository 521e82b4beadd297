/** The API as an executable `GraphQLSchema`, whose root fields call the engine: other GraphQL servers may extend, wrap or stitch it. */
import {
  buildSchema,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  printSchema,
} from 'graphql';
import type { Caller, ExecutionResult, GraphQLRequest, RequestOptions } from '../engine/request.ts';
import type { ErrorObject } from '../errors/api-error.ts';
import { DelegatedDocuments, rootFieldsOf, typenameKey } from './delegated-documents.ts';

/** Runs a request; `Rowgraph.execute`. */
export type Execute = (request: GraphQLRequest, caller: Caller, options?: RequestOptions) => Promise<ExecutionResult>;

interface ExecutableSchemaOptions {
  readonly execute: Execute;
  /** `Rowgraph.subscribe`. */
  readonly subscribe: (request: GraphQLRequest, caller: Caller) => AsyncIterableIterator<ExecutionResult>;
  /** The caller, from the context of an operation. */
  readonly callerOf: (context: unknown) => Caller | Promise<Caller>;
  /** Whether the mutations of an operation run together even if their resolvers are wrapped. */
  readonly atomicMutations: boolean;
}

/** An object of a response: members by response key. */
type ResponseObject = Readonly<Record<string, unknown>>;

/** The executable schema. Its types are copies: changes to them do not reach the engine. */
export function buildExecutableSchema(original: GraphQLSchema, options: ExecutableSchemaOptions): GraphQLSchema {
  // Copied by way of SDL: enum values then equal their names, and scalars pass values through, which is what the engine takes and returns.
  const schema = buildSchema(printSchema(original), { assumeValid: true, assumeValidSDL: true });
  const documents = new DelegatedDocuments(schema);
  const runs = new WeakMap<object, OperationRun>();
  const resolveRoot: GraphQLFieldResolver<unknown, unknown> = (parent, args, context, info) => {
    // The field `query` of a mutation's response is of type Query too, but has been executed with the mutation.
    if (info.path.prev !== undefined) return resolveMember(parent, args, context, info);
    // Every execution has its own `variableValues` object, even without variables; nothing else is always its own.
    const { variableValues } = info;
    const run = runs.get(variableValues) ?? new OperationRun(options, documents, resolveRoot);
    runs.set(variableValues, run);
    return run.resolve(context, info);
  };
  const roots = new Set([schema.getQueryType(), schema.getMutationType()]);
  const subscribe = subscriber(options, documents);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (type === schema.getSubscriptionType()) {
      for (const field of Object.values(type.getFields())) Object.assign(field, { subscribe, resolve: resolveEvent });
      continue;
    }
    if (isObjectType(type))
      for (const field of Object.values(type.getFields())) field.resolve = roots.has(type) ? resolveRoot : resolveMember;
    if (isInterfaceType(type)) type.resolveType = (object) => (object as ResponseObject)[typenameKey] as string;
  }
  return schema;
}

/**
 * Subscribes to all root fields of an operation at once; each event is a result of the engine. graphql-js asks only the first of them
 * (https://spec.graphql.org/October2021/#sec-Source-Stream).
 */
function subscriber(options: ExecutableSchemaOptions, documents: DelegatedDocuments): GraphQLFieldResolver<unknown, unknown> {
  return async (_parent, _arguments, context, info) => {
    const caller = await options.callerOf(context);
    const keys = rootFieldsOf(info).map(({ key }) => key);
    return options.subscribe(requestOf(documents, new Set(keys), info), caller);
  };
}

const resolveEvent: GraphQLFieldResolver<unknown, unknown> = (event, _arguments, _context, info) => {
  const fields = info.schema.getSubscriptionType()?.getFields() ?? {};
  const all = rootFieldsOf(info).map(({ key, name }) => [key, { isNonNull: isNonNullType(fields[name]?.type) }] as const);
  return readMember(event as ExecutionResult, info.path.key as string, new Map(all), info);
};

/** The request for the root fields with these keys. */
function requestOf(documents: DelegatedDocuments, keys: ReadonlySet<string>, info: GraphQLResolveInfo): GraphQLRequest {
  const { text, variables } = documents.of(info.operation, info.fragments, keys);
  const { sources } = info.variableValues;
  const present = variables.filter((name) => Object.hasOwn(sources, name) && sources[name]?.value !== undefined);
  return { query: text, variables: Object.fromEntries(present.map((name) => [name, sources[name]?.value])) };
}

/** The engine responds with response keys, which may be aliases. */
const resolveMember: GraphQLFieldResolver<unknown, unknown> = (parent, _arguments, _context, { path }) =>
  (parent as ResponseObject)[path.key];

interface BatchField {
  readonly isNonNull: boolean;
}

interface Batch {
  /** By response key, in the order in which they are resolved. */
  readonly fields: Map<string, BatchField>;
  readonly result: Promise<ExecutionResult>;
}

/** One execution of an operation by another GraphQL server: combines the root fields that it resolves into one request to the engine. */
class OperationRun {
  readonly #options: ExecutableSchemaOptions;
  readonly #documents: DelegatedDocuments;
  /** A field with this resolver has not been wrapped. */
  readonly #resolver: GraphQLFieldResolver<unknown, unknown>;
  readonly #batches = new Map<string, Batch>();
  /** The batch to which further fields are added. */
  #open: Batch | null = null;

  constructor(options: ExecutableSchemaOptions, documents: DelegatedDocuments, resolver: GraphQLFieldResolver<unknown, unknown>) {
    this.#options = options;
    this.#documents = documents;
    this.#resolver = resolver;
  }

  async resolve(context: unknown, info: GraphQLResolveInfo): Promise<unknown> {
    const key = info.path.key as string;
    const batch = this.#batches.get(key) ?? this.#join(key, context, info);
    return readMember(await batch.result, key, batch.fields, info);
  }

  #join(key: string, context: unknown, info: GraphQLResolveInfo): Batch {
    const batch = this.#open ?? this.#begin(key, context, info);
    batch.fields.set(key, { isNonNull: isNonNullType(info.returnType) });
    for (const each of batch.fields.keys()) this.#batches.set(each, batch);
    return batch;
  }

  /**
   * Fields of a query are all resolved in one turn, so the batch is complete at its end. Fields of a mutation are resolved one after
   * another, so the first also runs those that follow, except (by default) those whose resolver somebody has wrapped and might not call.
   */
  #begin(key: string, context: unknown, info: GraphQLResolveInfo): Batch {
    if (info.operation.operation === 'query') {
      const fields: Batch['fields'] = new Map();
      const result = Promise.resolve().then(() => {
        this.#open = null;
        return this.#execute(fields, context, info);
      });
      this.#open = { fields, result };
      return this.#open;
    }
    const fields = new Map([[key, { isNonNull: isNonNullType(info.returnType) }], ...this.#followers(key, info)]);
    return { fields, result: this.#execute(fields, context, info) };
  }

  #followers(key: string, info: GraphQLResolveInfo): [string, BatchField][] {
    const fields = info.schema.getMutationType()?.getFields() ?? {};
    const { atomicMutations } = this.#options;
    const isOwn = (name: string): boolean =>
      atomicMutations ? this.#documents.hasMutation(name) : fields[name]?.resolve === this.#resolver;
    if (!isOwn(info.fieldName)) return [];
    const all = rootFieldsOf(info);
    const following = all.filter((field) => field.key !== key && !this.#batches.has(field.key) && isOwn(field.name));
    return following.map((field) => [field.key, { isNonNull: isNonNullType(fields[field.name]?.type) }]);
  }

  async #execute(fields: Batch['fields'], context: unknown, info: GraphQLResolveInfo): Promise<ExecutionResult> {
    const caller = await this.#options.callerOf(context);
    const request = requestOf(this.#documents, new Set(fields.keys()), info);
    return this.#options.execute(request, caller, { signal: info.getAbortSignal() });
  }
}

/**
 * The value of a field. An error belongs to the whole request but is reported only once: by a field that must not be null, whose error
 * removes all data; otherwise by the field that its path names; otherwise by the first field.
 */
function readMember({ data, errors }: ExecutionResult, key: string, fields: Batch['fields'], info: GraphQLResolveInfo): unknown {
  const [error] = errors ?? [];
  if (error === undefined) return data?.[key];
  const keys = [...fields.keys()];
  const named = keys.find((each) => each === error.path?.[0]);
  const reporter = keys.find((each) => fields.get(each)?.isNonNull) ?? named ?? keys[0];
  if (key === reporter || fields.get(key)?.isNonNull) throw toGraphqlError(error, info);
  return null;
}

/** graphql-js does not change an error that has a path already. */
function toGraphqlError({ message, path, extensions }: ErrorObject, { fieldNodes }: GraphQLResolveInfo): GraphQLError {
  return new GraphQLError(message, { nodes: fieldNodes, extensions, ...(path !== undefined && { path }) });
}
