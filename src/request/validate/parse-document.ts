/** Parses a document and validates it against a role's schema. */
import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  KnownTypeNamesRule as GraphQLKnownTypeNamesRule,
  getNamedType,
  Kind,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  SingleFieldSubscriptionsRule,
  type Source,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql';
import { checkLimit, type Limits, overLimit } from '../../budget/limits.ts';
import { ApiError, quote, type SourcePosition, shortenMessage } from '../../errors/api-error.ts';
import { documentSource, isAborted } from '../../schema/lazy/graphql-internals.ts';
import type { LazySchema } from '../../schema/lazy/lazy-schema.ts';
import { conditionVariables, declareVariables, type VariableDeclaration } from '../coerce/declare-variables.ts';
import { type AdaptedDocument, adaptDocument, sentName } from '../lenient/adapt-document.ts';
import { describePosition, describeRemedy, joinRemedy } from '../lenient/describe-input.ts';
import type { Coercion } from '../operation.ts';
import { fragmentsOf } from '../select/collect-fields.ts';
import { LoneStreamRule } from './lone-stream-rule.ts';
import { checkOperations, checkText, measureOperations, type OperationCounts, type TextCounts } from './measure-document.ts';
import { MergeableFieldsRule } from './mergeable-fields-rule.ts';
import { ValueTypesRule } from './value-types-rule.ts';
import { VariablePositionsRule } from './variable-positions-rule.ts';

/** The most validation errors to report. Clients usually fix the first one anyway. */
const maxErrors = 5;
/** The most locations to report for one error. */
const maxLocations = 10;
/** Documents with more tokens are validated by a few rules at a time. */
const manyTokens = 1500;
const rulesAtATime = 3;
/** With more fields of `Query` than this, errors have no suggestions, because searching for them takes too long. */
const manyFields = 1000;

/** graphql-js's rules, five of them replaced: one statement answers all root fields of a subscription, unless one is a stream. */
const replaced: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [SingleFieldSubscriptionsRule, LoneStreamRule],
  [GraphQLKnownTypeNamesRule, KnownTypeNamesRule],
  [VariablesInAllowedPositionRule, VariablePositionsRule],
  [OverlappingFieldsCanBeMergedRule, MergeableFieldsRule],
  [ValuesOfCorrectTypeRule, ValueTypesRule],
]);
const rules = specifiedRules.map((rule) => replaced.get(rule) ?? rule);

export interface Document {
  readonly operations: readonly DocumentOperation[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly textCounts: TextCounts;
  /** What lenient coercion let pass, each with what to write instead; none if the document is valid as it is. */
  readonly mismatches: readonly string[];
}

export interface DocumentOperation {
  readonly name: string | undefined;
  readonly node: OperationDefinitionNode;
  readonly variables: readonly VariableDeclaration[];
  readonly counts: OperationCounts;
}

interface DocumentRules {
  readonly limits: Limits;
  readonly coercion: Coercion;
  /** Whether validation errors may suggest names that the document does not contain. */
  readonly suggests: boolean;
}

/**
 * Parses and validates, yielding if the document is long. Throws GRAPHQL_PARSE_FAILED, the errors of limits, or `RequestErrors` with the
 * first few validation errors.
 */
export function* parseDocument(schema: LazySchema, text: string, applied: DocumentRules): Generator<void, Document> {
  const { limits } = applied;
  const textCounts = checkText(text, limits);
  yield;
  const written = parseText(text);
  yield;
  const measuredAsWritten = measureOperations(written);
  checkOperations([...measuredAsWritten.operations.values()], limits);
  yield;
  const groups = groupsOf(rules, textCounts.tokens > manyTokens ? rulesAtATime : rules.length);
  const valid = yield* validateDocument(schema, written, groups, applied);
  if (valid === null) throw new RequestErrors(yield* validationErrors(schema, text, groups, applied));
  const { node, mismatches, stands } = valid;
  const measured = node === written ? measuredAsWritten : measureOperations(node);
  const conditions = conditionVariables(node);
  const operations = [...measured.operations].map(([definition, counts]) => {
    const variables = declareVariables(schema, definition, conditions, stands, applied.suggests);
    return { name: definition.name?.value, node: definition, variables, counts };
  });
  return { operations, fragments: fragmentsOf(node), textCounts, mismatches };
}

/** Checks a document that was parsed under other limits against these, and throws their errors. */
export function recheckDocument({ operations, textCounts }: Document, limits: Limits): void {
  checkLimit(limits, 'documentBytes', textCounts.documentBytes);
  if (textCounts.tokens > limits.tokens) throw overLimit(limits, 'tokens');
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

type RuleGroups = readonly (readonly ValidationRule[])[];

/** The document to run: as it is written, or as lenient coercion reads it. Null if neither is valid. */
function* validateDocument(
  schema: LazySchema,
  written: DocumentNode,
  groups: RuleGroups,
  applied: DocumentRules,
): Generator<void, AdaptedDocument | null> {
  if (yield* isValid(schema, written, groups)) return { node: written, mismatches: [], stands: new Map(), positions: new Map() };
  const { limits, coercion, suggests } = applied;
  if (coercion === 'strict') return null;
  const adapted = yield* adaptDocument(schema, written, limits, !suggests);
  yield;
  if (adapted.node === written) return null;
  // Its variables may have the same default several times.
  checkOperations([...measureOperations(adapted.node).operations.values()], limits);
  return (yield* isValid(schema, adapted.node, groups)) ? adapted : null;
}

function* isValid(schema: LazySchema, node: DocumentNode, groups: RuleGroups): Generator<void, boolean> {
  for (const group of groups) {
    const errors = validate(schema, node, group, { maxErrors: 1, hideSuggestions: true });
    yield;
    if (errors.length > 0) return false;
  }
  return true;
}

/** Returns the errors of the first rules that find any, with their locations. */
function* validationErrors(
  schema: LazySchema,
  text: string,
  groups: RuleGroups,
  applied: DocumentRules,
): Generator<void, readonly ApiError[]> {
  const { source, dropText } = documentSource(text);
  const written = parseText(source, { noLocation: false });
  yield;
  dropText();
  const hideSuggestions = !applied.suggests || (yield* schema.hasMoreQueries(manyFields));
  const adapted = applied.coercion === 'lenient' ? yield* adaptDocument(schema, written, applied.limits, !applied.suggests) : null;
  for (const group of groups) {
    const errors = validate(schema, adapted?.node ?? written, group, { maxErrors, hideSuggestions });
    if (errors.length > 0) return errors.map((error) => toValidationError(error, text, adapted));
    yield;
  }
  throw new Error('A document is valid with locations and not without.');
}

function toValidationError(error: GraphQLError, text: string, adapted: AdaptedDocument | null): ApiError {
  if (isAborted(error)) return new ApiError('QUERY_TOO_COMPLEX', 'The document has too many fragments to validate. Use fewer.');
  const locations = error.positions && locationsOf(text, error.positions.slice(0, maxLocations));
  const message = shortenMessage(adapted ? adviseOn(error, adapted) : error.message);
  return new ApiError('GRAPHQL_VALIDATION_FAILED', message, { locations, cause: error });
}

/** The message of an error with what to write instead, as far as that is known. Names variables as the client does. */
function adviseOn({ message, nodes = [] }: GraphQLError, { stands, positions }: AdaptedDocument): string {
  const names = [...stands.keys()].map(({ variable }) => variable.name.value).sort((one, other) => other.length - one.length);
  const named = names.reduce((text, name) => text.replaceAll(`$${name}`, `$${sentName(name)}`), message);
  const node = nodes.findLast((each) => positions.has(each));
  const position = node && positions.get(node)!;
  if (!node || !position) return named;
  const isValue = node.kind !== Kind.VARIABLE && node.kind !== Kind.NAMED_TYPE;
  const remedy = isValue
    ? describeRemedy(getNamedType(position.type), 'write', position.hidesValues, position)
    : `Declare the variable as ${position.type}, which ${describePosition(position)} takes.`;
  return remedy ? joinRemedy(named, remedy) : named;
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

/** Parses a document. Locations and their tokens take two thirds of its memory, and only errors need them. Throws GRAPHQL_PARSE_FAILED. */
export function parseText(text: string | Source, { noLocation = true } = {}): DocumentNode {
  try {
    // In the October 2021 edition selection sets cannot be empty. A later draft allows it, and graphql-js does by default.
    return parse(text, { noLocation, allowEmptySelectionSets: false });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new ApiError('GRAPHQL_PARSE_FAILED', shortenMessage(error.message), { locations: error.locations, cause: error });
  }
}

/**
 * Validation rule: type names exist (https://spec.graphql.org/October2021/#sec-Fragment-Spread-Type-Existence). graphql-js's own rule reads
 * the map of all types, which would build thousands of them.
 */
export function KnownTypeNamesRule(context: ValidationContext): ASTVisitor {
  const schema = context.getSchema();
  return {
    NamedType(node) {
      if (schema.getType(node.name.value)) return;
      context.reportError(new GraphQLError(`Unknown type "${node.name.value}".`, { nodes: node }));
    },
  };
}
