/**
 * An executable `GraphQLSchema` for other GraphQL servers, whose root fields ask the engine. In: the schema that a role sees, and how to run a request; out:
 * a schema of its own, which others may extend, wrap or stitch.
 */
import { buildSchema, type GraphQLFieldResolver, type GraphQLSchema, isInterfaceType, isObjectType, printSchema } from 'graphql';
import type { Caller, ExecutionResult, GraphQLRequest, RequestOptions } from '../engine/request.ts';
import { DelegatedDocuments, typenameKey } from './delegated-documents.ts';
import { OperationRun } from './operation-run.ts';

/** Runs a request; `Rowgraph.execute`. */
export type Execute = (request: GraphQLRequest, caller: Caller, options?: RequestOptions) => Promise<ExecutionResult>;

export interface ExecutableSchemaOptions {
  readonly execute: Execute;
  /** The caller that the context of an operation stands for. */
  readonly callerOf: (context: unknown) => Caller | Promise<Caller>;
  /** Whether mutations run together even where their resolvers have been wrapped. */
  readonly atomicMutations: boolean;
}

/** An object of a response: members by response key. */
type ResponseObject = Readonly<Record<string, unknown>>;

/** The executable schema. Its types are copies: nothing that is done to them reaches the engine. */
export function buildExecutableSchema(source: GraphQLSchema, options: ExecutableSchemaOptions): GraphQLSchema {
  // Copied by text, which leaves enum values that are their names and scalars that pass values on, as the engine takes and gives them.
  const schema = buildSchema(printSchema(source), { assumeValid: true, assumeValidSDL: true });
  const documents = new DelegatedDocuments(schema);
  const runs = new WeakMap<object, OperationRun>();
  const resolveRoot: GraphQLFieldResolver<unknown, unknown> = (_source, _arguments, context, info) => {
    // An execution has variable values of its own, even if it has no variables, and nothing else is always its own.
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

/** The engine has answered under the response key, which an alias may have made. */
const resolveMember: GraphQLFieldResolver<unknown, unknown> = (source, _arguments, _context, { path }) =>
  (source as ResponseObject)[path.key];
