/**
 * An executable `GraphQLSchema` for other GraphQL servers, whose root fields call the engine. In: the schema that a role sees, and how to
 * run a request; out: an independent schema, which others may extend, wrap or stitch.
 */
import { buildSchema, type GraphQLFieldResolver, type GraphQLSchema, isInterfaceType, isObjectType, printSchema } from 'graphql';
import type { Caller, ExecutionResult, GraphQLRequest, RequestOptions } from '../engine/request.ts';
import { DelegatedDocuments, typenameKey } from './delegated-documents.ts';
import { OperationRun } from './operation-run.ts';

/** Runs a request; `Rowgraph.execute`. */
export type Execute = (request: GraphQLRequest, caller: Caller, options?: RequestOptions) => Promise<ExecutionResult>;

export interface ExecutableSchemaOptions {
  readonly execute: Execute;
  /** The caller, from the context of an operation. */
  readonly callerOf: (context: unknown) => Caller | Promise<Caller>;
  /** Whether the mutations of an operation run together even if their resolvers are wrapped. */
  readonly atomicMutations: boolean;
}

/** An object of a response: members by response key. */
type ResponseObject = Readonly<Record<string, unknown>>;

/** The executable schema. Its types are copies: changes to them do not reach the engine. */
export function buildExecutableSchema(source: GraphQLSchema, options: ExecutableSchemaOptions): GraphQLSchema {
  // Copied by way of SDL: enum values then equal their names, and scalars pass values through, which is what the engine takes and returns.
  const schema = buildSchema(printSchema(source), { assumeValid: true, assumeValidSDL: true });
  const documents = new DelegatedDocuments(schema);
  const runs = new WeakMap<object, OperationRun>();
  const resolveRoot: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    // The field `query` of a mutation's response is of type Query too, but has been executed with the mutation.
    if (info.path.prev !== undefined) return resolveMember(source, args, context, info);
    // Every execution has its own `variableValues` object, even without variables; nothing else is always its own.
    const { variableValues } = info;
    const run = runs.get(variableValues) ?? new OperationRun(options, documents, resolveRoot);
    runs.set(variableValues, run);
    return run.resolve(context, info);
  };
  const roots = new Set([schema.getQueryType(), schema.getMutationType()]);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isObjectType(type))
      for (const field of Object.values(type.getFields())) field.resolve = roots.has(type) ? resolveRoot : resolveMember;
    if (isInterfaceType(type)) type.resolveType = (object) => (object as ResponseObject)[typenameKey] as string;
  }
  return schema;
}

/** The engine responds with response keys, which may be aliases. */
const resolveMember: GraphQLFieldResolver<unknown, unknown> = (source, _arguments, _context, { path }) =>
  (source as ResponseObject)[path.key];
