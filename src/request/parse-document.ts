/** Parses a document and validates it against a role's schema. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  KnownTypeNamesRule as GraphQLKnownTypeNamesRule,
  Kind,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  type Source,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import type { Limits } from '../budget/limits.ts';
import { ApiError, quote, type SourcePosition, shortenMessage } from '../errors.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';
import { checkText, recheckText, type TextCounts } from './check-text.ts';
import { documentSource, isAborted } from './graphql-validation.ts';
import { KnownTypeNamesRule } from './known-type-names-rule.ts';
import { checkOperations, measureOperations, type OperationCounts } from './measure-operations.ts';
import { MergeableFieldsRule } from './mergeable-fields-rule.ts';
import { conditionVariables, declareVariables, type VariableDeclaration } from './variable-declarations.ts';

/** The most validation errors to report. Clients usually fix the first one anyway. */
const maxErrors = 5;
/** The most locations to report for one error. */
const maxLocations = 10;
/** Documents with more tokens are validated by a few rules at a time. */
const manyTokens = 1500;
const rulesAtATime = 3;
/** With more fields of `Query` than this, errors have no suggestions, because searching for them takes too long. */
const manyFields = 1000;

/** graphql-js's rules, two of them replaced. */
const rules = specifiedRules.map((rule) => {
  if (rule === GraphQLKnownTypeNamesRule) return KnownTypeNamesRule;
  return rule === OverlappingFieldsCanBeMergedRule ? MergeableFieldsRule : rule;
});

export interface Document {
  readonly operations: readonly DocumentOperation[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly textCounts: TextCounts;
}

export interface DocumentOperation {
  readonly name: string | undefined;
  readonly node: OperationDefinitionNode;
  readonly variables: readonly VariableDeclaration[];
  readonly counts: OperationCounts;
}

/**
 * Parses and validates, yielding if the document is long. Throws GRAPHQL_PARSE_FAILED, the errors of limits, or `RequestErrors` with the
 * first few validation errors.
 */
export function* parseDocument(schema: LazySchema, text: string, limits: Limits): Generator<void, Document> {
  const textCounts = checkText(text, limits);
  yield;
  // Locations and their tokens take two thirds of a document's memory, and only errors need them.
  const node = parseText(text, { noLocation: true });
  yield;
  const measured = measureOperations(node);
  checkOperations([...measured.operations.values()], limits);
  yield;
  yield* validateDocument(schema, node, text, textCounts.tokens);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of node.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const conditions = conditionVariables(node);
  const operations = [...measured.operations].map(([definition, counts]) => {
    return { name: definition.name?.value, node: definition, variables: declareVariables(schema, definition, conditions), counts };
  });
  return { operations, fragments, textCounts };
}

/** Checks a document that was parsed under other limits against these, and throws their errors. */
export function recheckDocument(text: string, { operations, textCounts }: Document, limits: Limits): void {
  recheckText(text, textCounts, limits);
  checkOperations(
    operations.map(({ counts }) => counts),
    limits,
  );
}

/**
 * Returns the operation to run (https://spec.graphql.org/October2021/#GetOperation()). Throws OPERATION_RESOLUTION_FAILURE. A valid
 * document has at least one operation, because unused fragments are invalid.
 */
export function getOperation(document: Document, name: string | null | undefined): DocumentOperation {
  const { operations } = document;
  if (name === undefined || name === null) {
    if (operations.length === 1) return operations[0]!;
    throw new ApiError('OPERATION_RESOLUTION_FAILURE', 'The document contains several operations. Set "operationName" to the one to run.');
  }
  const chosen = operations.find((operation) => operation.name === name);
  if (!chosen) throw new ApiError('OPERATION_RESOLUTION_FAILURE', `The document contains no operation named ${quote(name)}.`);
  return chosen;
}

/** The errors of one request. */
export class RequestErrors extends Error {
  readonly errors: readonly ApiError[];

  constructor(errors: readonly ApiError[]) {
    super(errors[0]?.message);
    this.errors = errors;
  }
}

/** Throws `RequestErrors` for an invalid document. */
function* validateDocument(schema: LazySchema, node: DocumentNode, text: string, tokens: number): Generator<void, void> {
  const groups = groupsOf(rules, tokens > manyTokens ? rulesAtATime : rules.length);
  for (const group of groups) {
    const isValid = validate(schema, node, group, { maxErrors: 1, hideSuggestions: true }).length === 0;
    yield;
    if (!isValid) throw new RequestErrors(yield* validationErrors(schema, text, groups));
  }
}

/** Returns the errors of the first rules that find any, with their locations. */
function* validationErrors(
  schema: LazySchema,
  text: string,
  groups: readonly (readonly ValidationRule[])[],
): Generator<void, readonly ApiError[]> {
  const { source, dropText } = documentSource(text);
  const node = parseText(source, { noLocation: false });
  yield;
  dropText();
  const hideSuggestions = yield* schema.hasMoreQueries(manyFields);
  for (const group of groups) {
    const errors = validate(schema, node, group, { maxErrors, hideSuggestions });
    if (errors.length > 0) return errors.map((error) => toValidationError(error, text));
    yield;
  }
  throw new Error('A document is valid with locations and not without.');
}

function toValidationError(error: GraphQLError, text: string): ApiError {
  if (isAborted(error)) return new ApiError('QUERY_TOO_COMPLEX', 'The document has too many fragments to validate. Use fewer.');
  const locations = error.positions && locationsOf(text, error.positions.slice(0, maxLocations));
  return new ApiError('GRAPHQL_VALIDATION_FAILED', shortenMessage(error.message), { locations, cause: error });
}

function locationsOf(text: string, positions: readonly number[]): SourcePosition[] {
  return positions.map((position) => {
    let line = 1;
    let lineStart = 0;
    for (const { 0: lineBreak, index } of text.slice(0, position).matchAll(/\r\n|[\n\r]/g)) {
      line += 1;
      lineStart = index + lineBreak.length;
    }
    return { line, column: position - lineStart + 1 };
  });
}

function groupsOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}

function parseText(text: string | Source, { noLocation }: { readonly noLocation: boolean }): DocumentNode {
  try {
    // In the October 2021 edition selection sets cannot be empty. A later draft allows it, and graphql-js does by default.
    return parse(text, { noLocation, allowEmptySelectionSets: false });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new ApiError('GRAPHQL_PARSE_FAILED', shortenMessage(error.message), { locations: error.locations, cause: error });
  }
}
