/**
 * Text in, a valid document out: parsed, validated against the schema of a role, its operations ready to be chosen from.
 */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  KnownTypeNamesRule as GraphQLKnownTypeNamesRule,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { ApiError, type ErrorCode } from '../errors.ts';
import { KnownTypeNamesRule } from './known-type-names-rule.ts';
import { declareVariables, type VariableDeclaration } from './read-variables.ts';

/** Beyond this many tokens a document is refused unread: validation may take time that grows with their square. */
const maxTokens = 200_000;
/** Errors of validation that are told; a client mends the first. */
const maxErrors = 5;

/** graphql-js's rules, with ours in the place of one. */
const rules = specifiedRules.map((rule) => (rule === GraphQLKnownTypeNamesRule ? KnownTypeNamesRule : rule));

export interface Document {
  readonly operations: readonly DocumentOperation[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

export interface DocumentOperation {
  readonly name: string | undefined;
  readonly node: OperationDefinitionNode;
  readonly variables: readonly VariableDeclaration[];
}

/** Parses and validates. Throws `RequestErrors` with every error of validation (the first few), GRAPHQL_PARSE_FAILED or …_VALIDATION_FAILED. */
export function parseDocument(schema: GraphQLSchema, text: string): Document {
  // Locations, and the tokens that hang on them, are two thirds of a document's memory. Only errors tell them.
  const node = parseText(text, { noLocation: true });
  if (validate(schema, node, rules, { maxErrors: 1 }).length > 0) throw new RequestErrors(validationErrors(schema, text));
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of node.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const conditions = conditionVariables(node);
  const operations = node.definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
    return [{ name: definition.name?.value, node: definition, variables: declareVariables(schema, definition, conditions) }];
  });
  return { operations, fragments };
}

/** The operation to run (https://spec.graphql.org/October2021/#GetOperation()). Throws OPERATION_RESOLUTION_FAILURE. */
export function chooseOperation(document: Document, name: string | null | undefined): DocumentOperation {
  const { operations } = document;
  const [only] = operations;
  if (!only) throw new ApiError('OPERATION_RESOLUTION_FAILURE', 'The document holds no operation: write a query or a mutation.');
  if (name === undefined || name === null) {
    if (operations.length === 1) return only;
    throw new ApiError('OPERATION_RESOLUTION_FAILURE', 'The document holds several operations: say which one to run in "operationName".');
  }
  const chosen = operations.find((operation) => operation.name === name);
  if (!chosen) throw new ApiError('OPERATION_RESOLUTION_FAILURE', `The document holds no operation named ${JSON.stringify(name)}.`);
  return chosen;
}

/** Several errors of one request. */
export class RequestErrors extends Error {
  readonly errors: readonly ApiError[];

  constructor(errors: readonly ApiError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

function validationErrors(schema: GraphQLSchema, text: string): ApiError[] {
  const errors = validate(schema, parseText(text, { noLocation: false }), rules, { maxErrors });
  return errors.map((error) => toApiError('GRAPHQL_VALIDATION_FAILED', error));
}

function parseText(text: string, { noLocation }: { readonly noLocation: boolean }): DocumentNode {
  try {
    return parse(text, { maxTokens, noLocation });
  } catch (error) {
    if (error instanceof GraphQLError) throw toApiError('GRAPHQL_PARSE_FAILED', error);
    // Documents nested tens of thousands deep overflow the parser's stack.
    if (error instanceof RangeError) throw new ApiError('QUERY_TOO_COMPLEX', 'The document is nested too deeply.', { cause: error });
    throw error;
  }
}

/** The error of graphql-js as ours, with its positions. */
function toApiError(code: ErrorCode, error: GraphQLError): ApiError {
  return new ApiError(code, error.message, { locations: error.locations, cause: error });
}

/** Names of the variables that some `@skip` or `@include` of the document depends on. */
function conditionVariables(node: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(node, {
    Directive: (directive) => {
      for (const { value } of directive.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return names;
}
