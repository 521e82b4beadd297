/**
 * Counts what a document asks for against limits, before it is parsed (its bytes, its tokens, and the nesting of its brackets, which
 * determines how deep the parser recurses) and after it (each operation, as if fragments were expanded wherever they are spread).
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  Source,
  TokenKind,
  type ValueNode,
} from 'graphql';
import { checkLimit, type LimitName, type Limits, overLimit } from '../../budget/limits.ts';
import { fragmentsOf } from '../select/collect-fields.ts';

export interface TextCounts {
  readonly documentBytes: number;
  readonly tokens: number;
}

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Counts bytes and tokens, and throws if a limit is exceeded. Leaves syntax errors to the parser. */
export function checkText(text: string, limits: Limits): TextCounts {
  const documentBytes = countBytes(text, limits);
  const maxBrackets = bracketsOf(limits.depth);
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let brackets = 0;
  try {
    for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; { kind } = lexer.advance()) {
      tokens += 1;
      if (tokens > limits.tokens) throw overLimit(limits, 'tokens');
      if (opening.has(kind)) brackets += 1;
      else if (closing.has(kind)) brackets -= 1;
      if (brackets > maxBrackets) throw overLimit(limits, 'depth');
    }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
  return { documentBytes, tokens };
}

/** A UTF-16 code unit takes one to three bytes in UTF-8, so a text with too many of them is rejected without encoding it. */
function countBytes(text: string, limits: Limits): number {
  if (text.length > limits.documentBytes) throw overLimit(limits, 'documentBytes');
  const bytes = Buffer.byteLength(text);
  checkLimit(limits, 'documentBytes', bytes);
  return bytes;
}

/**
 * The most nested brackets that a document within the depth limit can have: a field takes one, each level of its value two, an inline
 * fragment one.
 */
function bracketsOf(depth: number): number {
  return 4 * depth + 16;
}

/** The counts of an operation, by the name of the limit. */
export type OperationCounts = Readonly<
  Record<'depth' | 'fields' | 'rootFields' | 'aliases' | 'aliasLength' | 'fragments' | 'listElements', number>
>;

export interface MeasuredDocument {
  readonly operations: ReadonlyMap<OperationDefinitionNode, OperationCounts>;
  /** The number of fields, spreads and values visited. */
  readonly visited: number;
}

type Counts = { -readonly [Name in keyof OperationCounts]: number };

/**
 * Measures each operation, ignoring `@skip` and `@include`. Each fragment is measured only once, so the work grows with the document and
 * not with its expansion. The document need not be valid.
 */
export function measureOperations(document: DocumentNode): MeasuredDocument {
  const measurer = new OperationMeasurer(document);
  const operations = new Map<OperationDefinitionNode, OperationCounts>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.set(definition, measurer.operation(definition));
  }
  return { operations, visited: measurer.visited };
}

const checked = [
  'depth',
  'fields',
  'rootFields',
  'aliases',
  'aliasLength',
  'fragments',
  'listElements',
] as const satisfies readonly LimitName[];

/** Throws for the first limit that an operation exceeds. */
export function checkOperations(operations: readonly OperationCounts[], limits: Limits): void {
  checkLimit(limits, 'operations', operations.length);
  for (const counts of operations) {
    for (const name of checked) checkLimit(limits, name, counts[name]);
  }
}

function nothing(): Counts {
  return { depth: 0, fields: 0, rootFields: 0, aliases: 0, aliasLength: 0, fragments: 0, listElements: 0 };
}

class OperationMeasurer {
  visited = 0;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Null while a fragment is being measured, so that a fragment that spreads itself, which is invalid, counts as nothing there. */
  readonly #measured = new Map<string, Counts | null>();

  constructor(document: DocumentNode) {
    this.#fragments = fragmentsOf(document);
  }

  /** Measures the selections of an operation and the defaults of its variables, whether or not the request overrides them. */
  operation({ selectionSet, variableDefinitions }: OperationDefinitionNode): Counts {
    const counts = this.selections(selectionSet);
    for (const { defaultValue } of variableDefinitions ?? []) {
      if (defaultValue) counts.depth = Math.max(counts.depth, this.#value(counts, defaultValue));
    }
    return counts;
  }

  /** Measures a selection set. `rootFields` counts only the fields of its own level. */
  selections(selectionSet: SelectionSetNode): Counts {
    const counts = nothing();
    for (const selection of selectionSet.selections) this.#add(counts, selection);
    return counts;
  }

  #add(counts: Counts, selection: SelectionNode): void {
    this.visited += 1;
    if (selection.kind === Kind.FIELD) {
      this.#addField(counts, selection);
      return;
    }
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? this.selections(selection.selectionSet) : this.#countsOf(selection.name.value);
    counts.fragments += 1;
    counts.rootFields += inner?.rootFields ?? 0;
    if (inner) addInner(counts, inner, 0);
  }

  #addField(counts: Counts, field: FieldNode): void {
    counts.fields += 1;
    counts.rootFields += 1;
    if (field.alias) {
      counts.aliases += 1;
      counts.aliasLength += field.alias.value.length;
    }
    counts.depth = Math.max(counts.depth, 1);
    for (const { value } of field.arguments ?? []) counts.depth = Math.max(counts.depth, this.#value(counts, value));
    if (field.selectionSet) addInner(counts, this.selections(field.selectionSet), 1);
  }

  #countsOf(name: string): Counts | null {
    return this.#measured.has(name) ? this.#measured.get(name)! : this.#fragment(name);
  }

  /** Measures the fragments that it spreads first. Uses no recursion, because a chain of fragments can be as long as the document. */
  #fragment(name: string): Counts | null {
    const open = [name];
    for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
      const definition = this.#fragments.get(current);
      const isNew = !this.#measured.has(current);
      if (isNew) this.#measured.set(current, null);
      const next = isNew && definition ? spreadsOf(definition.selectionSet).filter((spread) => !this.#measured.has(spread)) : [];
      open.push(...next);
      if (next.length > 0) continue;
      open.pop();
      if (definition && this.#measured.get(current) === null) this.#measured.set(current, this.selections(definition.selectionSet));
    }
    return this.#measured.get(name) ?? null;
  }

  /** Counts list elements. Returns the nesting depth of lists and objects. */
  #value(counts: Counts, value: ValueNode): number {
    this.visited += 1;
    let deepest = 0;
    if (value.kind === Kind.LIST) {
      counts.listElements += value.values.length;
      for (const item of value.values) deepest = Math.max(deepest, this.#value(counts, item));
      return deepest + 1;
    }
    if (value.kind !== Kind.OBJECT) return 0;
    for (const field of value.fields) deepest = Math.max(deepest, this.#value(counts, field.value));
    return deepest + 1;
  }
}

function addInner(counts: Counts, inner: Counts, levels: number): void {
  counts.depth = Math.max(counts.depth, inner.depth + levels);
  counts.fields += inner.fields;
  counts.aliases += inner.aliases;
  counts.aliasLength += inner.aliasLength;
  counts.fragments += inner.fragments;
  counts.listElements += inner.listElements;
}

/** The names of fragments spread in a selection set, at any depth. */
function spreadsOf({ selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return [selection.name.value];
    return selection.selectionSet ? spreadsOf(selection.selectionSet) : [];
  });
}
