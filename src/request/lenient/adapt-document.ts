/**
 * Lenient coercion: rewrites a document whose variables or literals do not match the scalar or enum type of their position into one that
 * strict validation accepts. A variable that is used as another type becomes several, one for each type, which all take the value that was
 * sent under its name; the rest of the pipeline sees an ordinary document. Object types still have to match.
 */
import {
  type ASTNode,
  type DefinitionNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isLeafType,
  isListType,
  isNonNullType,
  isTypeSubTypeOf,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  parseType,
  print,
  type TypeNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import type { Limits } from '../../budget/limits.ts';
import { shorten } from '../../errors/api-error.ts';
import { describePosition, type InputPosition } from './describe-input.ts';
import { type Uses, ValueWalker, type VariableUse } from './walk-values.ts';

export interface AdaptedDocument {
  /** The document itself if nothing in it has to be rewritten. */
  readonly node: DocumentNode;
  /** What strict coercion refuses, each with what to write instead; the first ones if there are many. */
  readonly mismatches: readonly string[];
  /** A position at which each variable of `node` that stands for another is used. */
  readonly stands: ReadonlyMap<VariableDefinitionNode, InputPosition>;
  /** The positions of values in `node`, for errors about them. */
  readonly positions: ReadonlyMap<ASTNode, InputPosition>;
}

/** They are kept with the document. */
const mostMismatches = 50;

/** No variable of a client has it in its name. */
const separator = ':';

/** The name under which a client sends a variable of an adapted document. */
export function sentName(name: string): string {
  const end = name.indexOf(separator);
  return end < 0 ? name : name.slice(0, end);
}

/**
 * Adapts a document that need not be valid, yielding between the passes. Throws TOO_MANY_VALUES. `hidesValues`: whether messages must not
 * name the values of enums.
 */
export function adaptDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  limits: Limits,
  hidesValues = false,
): Generator<void, AdaptedDocument> {
  return new DocumentAdapter(schema, document, new ValueWalker(schema, limits, hidesValues)).adapt();
}

/** A use where the schema expects a value. */
type PlacedUse = VariableUse & { readonly position: InputPosition };
type Verdict = 'matches' | 'adapted' | 'refused';

/** An operation with the uses of variables in all definitions that it reaches through fragments. */
interface Scope {
  readonly node: OperationDefinitionNode;
  /** By name; empty if two variables have one name, which is invalid. */
  readonly variables: ReadonlyMap<string, VariableDefinitionNode>;
  readonly uses: readonly VariableUse[];
}

class DocumentAdapter {
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #values: ValueWalker;
  readonly #mismatches: string[] = [];
  readonly #replaced = new Map<ASTNode, ASTNode>();
  readonly #stands = new Map<VariableDefinitionNode, InputPosition>();
  /** The new name of each use of a variable that is adapted. */
  readonly #renamed = new Map<VariableUse, string>();

  constructor(schema: GraphQLSchema, document: DocumentNode, values: ValueWalker) {
    this.#schema = schema;
    this.#document = document;
    this.#values = values;
  }

  *adapt(): Generator<void, AdaptedDocument> {
    const scopes = this.#scopes();
    yield;
    for (const { node, replacement, message } of this.#values.literals) {
      this.#replaced.set(node, replacement);
      this.#mismatches.push(message);
    }
    this.#rename(scopes);
    yield;
    const declarations = new Map(scopes.map((scope) => [scope.node, this.#declare(scope)]));
    const isAdapted = this.#replaced.size > 0 || this.#renamed.size > 0;
    yield;
    return {
      node: isAdapted ? this.#rewrite(declarations) : this.#document,
      mismatches: [...new Set(this.#mismatches)].slice(0, mostMismatches),
      stands: this.#stands,
      positions: this.#values.positions,
    };
  }

  #scopes(): Scope[] {
    const definitions = new Map(this.#document.definitions.map((node) => [node, this.#values.walk(node)]));
    const isFragment = (node: DefinitionNode): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;
    const fragments = new Map([...definitions.keys()].filter(isFragment).map((node) => [node.name.value, definitions.get(node)!]));
    return [...definitions].flatMap(([node, own]) => {
      if (node.kind !== Kind.OPERATION_DEFINITION) return [];
      const declared = node.variableDefinitions ?? [];
      const variables = new Map(declared.map((each) => [each.variable.name.value, each]));
      const uses = reachedBy(own, fragments).flatMap((reached) => [...reached.variables.values()]);
      return [{ node, variables: variables.size === declared.length ? variables : new Map(), uses }];
    });
  }

  /** Renames the uses that match in no operation as they are, if all operations that reach them declare the variable and none refuses. */
  #rename(scopes: readonly Scope[]): void {
    const verdicts = new Map<PlacedUse, Verdict>();
    for (const { variables, uses } of scopes) {
      for (const use of uses.filter(isPlaced)) {
        const declared = variables.get(use.name);
        const verdict = declared ? this.#judge(declared, use) : 'refused';
        if (verdicts.get(use) !== 'refused' && verdict !== 'matches') verdicts.set(use, verdict);
      }
    }
    for (const [use, verdict] of verdicts) {
      if (verdict !== 'adapted') continue;
      const name = `${use.name}${separator}${getNullableType(use.position.type)}`;
      this.#renamed.set(use, name);
      for (const node of use.nodes) this.#replaced.set(node, { ...node, name: { ...node.name, value: name } });
    }
  }

  #judge(declared: VariableDefinitionNode, use: PlacedUse): Verdict {
    const type = typeFromAST(this.#schema, declared.type as never);
    if (type && isInputType(type) && matches(this.#schema, type, declared, use.position)) return 'matches';
    if (this.#canStand(declared.type, use)) return 'adapted';
    const named = namedTypeOf(declared.type);
    if (!this.#schema.getType(named.name.value)) this.#values.positions.set(named, use.position);
    return 'refused';
  }

  /** Whether the value decides: objects and the conditions of directives need the type itself, scalars and enums do not. */
  #canStand(declared: TypeNode, { position, isInDirective }: PlacedUse): boolean {
    if (listsOf(declared) > listsOfType(position.type)) return false;
    const expected = getNamedType(position.type);
    const { value: name } = namedTypeOf(declared).name;
    if (isInputObjectType(expected) || isInDirective) return name === expected.name;
    const type = this.#schema.getType(name);
    return type === undefined || isLeafType(type);
  }

  /** The declarations of an operation: those that are still used, and those that stand for others. */
  #declare({ variables, uses, node }: Scope): readonly VariableDefinitionNode[] {
    const usesOf = Map.groupBy(uses, ({ name }) => name);
    return (node.variableDefinitions ?? []).flatMap((declared) => {
      const name = declared.variable.name.value;
      const own = variables.has(name) ? (usesOf.get(name) ?? []) : [];
      const adapted = own.filter(isPlaced).filter((use) => this.#renamed.has(use));
      const renamed = Map.groupBy(adapted, (use) => this.#renamed.get(use)!);
      const keeps = renamed.size === 0 || adapted.length < own.length;
      const isOnly = !keeps && renamed.size === 1;
      return [...(keeps ? [declared] : []), ...[...renamed].map(([key, group]) => this.#declareAs(declared, key, group, isOnly))];
    });
  }

  #declareAs(declared: VariableDefinitionNode, key: string, uses: readonly PlacedUse[], isOnly: boolean): VariableDefinitionNode {
    const { variable, defaultValue, ...rest } = declared;
    const isRequired = uses.some((use) => isNonNullType(use.position.type) && !use.position.hasDefault);
    const mismatched = uses.find((use) => this.#judge(declared, use) !== 'matches');
    const { position } = mismatched ?? uses[0]!;
    const nullable = String(getNullableType(position.type));
    const type = isRequired || declared.type.kind === Kind.NON_NULL_TYPE ? `${nullable}!` : nullable;
    // Another operation that uses the same fragment may be the one that does not match.
    if (mismatched) {
      const remedy = isOnly ? `declare it as ${type}` : `pass the value in a variable of its own, of type ${type}`;
      const was = `$${shorten(variable.name.value)} is declared ${shorten(print(declared.type))}`;
      this.#mismatches.push(`${was}, but ${describePosition(position)} takes ${position.type}: ${remedy}`);
    }
    const isNullDefault = isRequired && defaultValue?.kind === Kind.NULL;
    const node: VariableDefinitionNode = {
      ...rest,
      variable: { ...variable, name: { ...variable.name, value: key } },
      type: parseType(type, { noLocation: true }),
      ...(defaultValue && !isNullDefault && { defaultValue: this.#adaptDefault(defaultValue, position) }),
    };
    this.#stands.set(node, position);
    return node;
  }

  #adaptDefault(node: NonNullable<VariableDefinitionNode['defaultValue']>, position: InputPosition) {
    const literals = this.#values.walkDefault(node, position);
    this.#mismatches.push(...literals.map(({ message }) => message));
    return replaceNodes(node, new Map(literals.map((literal) => [literal.node, literal.replacement])));
  }

  #rewrite(declarations: ReadonlyMap<DefinitionNode, readonly VariableDefinitionNode[]>): DocumentNode {
    const definitions = this.#document.definitions.map((definition) => {
      const variableDefinitions = declarations.get(definition);
      if (definition.kind !== Kind.OPERATION_DEFINITION || !variableDefinitions) return replaceNodes(definition, this.#replaced);
      // The new declarations have been adapted, and are recognized by identity.
      const rewritten = replaceNodes({ ...definition, variableDefinitions: [] }, this.#replaced);
      const kept = variableDefinitions.map((each) => (this.#stands.has(each) ? each : replaceNodes(each, this.#replaced)));
      return { ...rewritten, variableDefinitions: kept };
    });
    return { ...this.#document, definitions };
  }
}

/** What a definition uses, and all fragments that it reaches. */
function reachedBy(own: Uses, fragments: ReadonlyMap<string, Uses>): readonly Uses[] {
  const reached = new Set([own]);
  // A set visits what is added to it meanwhile.
  for (const { spreads } of reached) {
    for (const name of spreads) {
      const fragment = fragments.get(name);
      if (fragment) reached.add(fragment);
    }
  }
  return [...reached];
}

function isPlaced(use: VariableUse): use is PlacedUse {
  return use.position !== null;
}

function replaceNodes<Node extends ASTNode>(node: Node, replaced: ReadonlyMap<ASTNode, ASTNode>): Node {
  return replaced.size === 0 ? node : visit(node, { enter: (each) => replaced.get(each) });
}

/** Whether a variable is allowed at a position (https://spec.graphql.org/October2021/#IsVariableUsageAllowed()). */
function matches(schema: GraphQLSchema, type: GraphQLInputType, { defaultValue }: VariableDefinitionNode, at: InputPosition): boolean {
  if (!isNonNullType(at.type) || isNonNullType(type)) return isTypeSubTypeOf(schema, type, at.type);
  const hasValue = defaultValue !== undefined && defaultValue.kind !== Kind.NULL;
  return (hasValue || at.hasDefault) && isTypeSubTypeOf(schema, type, at.type.ofType);
}

function namedTypeOf(node: TypeNode): NamedTypeNode {
  return node.kind === Kind.NAMED_TYPE ? node : namedTypeOf(node.type);
}

/** How many lists a type is nested in. */
function listsOf(node: TypeNode): number {
  if (node.kind === Kind.NAMED_TYPE) return 0;
  return listsOf(node.type) + (node.kind === Kind.LIST_TYPE ? 1 : 0);
}

function listsOfType(type: GraphQLInputType): number {
  const nullable = getNullableType(type);
  return isListType(nullable) ? 1 + listsOfType(nullable.ofType) : 0;
}
