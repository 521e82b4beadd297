import {
  type ASTNode,
  type DefinitionNode,
  type DocumentNode,
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
  TypeInfo,
  type TypeNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Limits } from '../../budget/limits.ts';
import { shorten } from '../../errors/api-error.ts';
import { type LiteralMismatch, ValueAdapter, type VariableUse, type VariableUses } from './adapt-values.ts';
import { describePlace, type InputPlace } from './describe-input.ts';

/**
 * Lenient coercion: rewrites a document whose variables or literals do not match the scalar or enum type of their place into one that
 * strict validation accepts. A variable that is used as another type becomes several, one for each type, which all take the value that was
 * sent under its name; the rest of the pipeline sees an ordinary document. Object types still have to match.
 */

export interface AdaptedDocument {
  /** The document itself if nothing in it has to be rewritten. */
  readonly node: DocumentNode;
  /** What strict coercion refuses, each with what to write instead; the first ones if there are many. */
  readonly mismatches: readonly string[];
  /** A place at which each variable of `node` that stands for another is used. */
  readonly stands: ReadonlyMap<VariableDefinitionNode, InputPlace>;
  /** The places of values in `node`, for errors about them. */
  readonly places: ReadonlyMap<ASTNode, InputPlace>;
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

/** Adapts a document that need not be valid, yielding between the passes. Throws TOO_MANY_VALUES. */
export function adaptDocument(schema: GraphQLSchema, document: DocumentNode, limits: Limits): Generator<void, AdaptedDocument> {
  return new DocumentAdapter(schema, document, limits).adapt();
}

type PlacedUse = VariableUse & { readonly place: InputPlace };
type Verdict = 'matches' | 'adapted' | 'refused';

class DocumentAdapter {
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #values: ValueAdapter;
  readonly #mismatches: string[] = [];
  readonly #replaced = new Map<ASTNode, ASTNode>();
  readonly #stands = new Map<VariableDefinitionNode, InputPlace>();
  /** The new name of each use of a variable that is adapted. */
  readonly #renamed = new Map<PlacedUse, string>();

  constructor(schema: GraphQLSchema, document: DocumentNode, limits: Limits) {
    this.#schema = schema;
    this.#document = document;
    this.#values = new ValueAdapter(limits);
  }

  *adapt(): Generator<void, AdaptedDocument> {
    const scopes = scopesOf(this.#collect());
    yield;
    this.#adaptDefaults(scopes);
    for (const literal of this.#values.literals) this.#replace(literal);
    this.#rename(scopes);
    yield;
    const declarations = new Map(scopes.map((scope) => [scope.node, this.#declare(scope)]));
    const isAdapted = this.#replaced.size > 0 || this.#renamed.size > 0;
    yield;
    return {
      node: isAdapted ? this.#rewrite(declarations) : this.#document,
      mismatches: [...new Set(this.#mismatches)].slice(0, mostMismatches),
      stands: this.#stands,
      places: this.#values.places,
    };
  }

  /** Walks the selections of all definitions. */
  #collect(): Definition[] {
    const typeInfo = new TypeInfo(this.#schema);
    return this.#document.definitions.map((node) => {
      const uses: VariableUses = new Map();
      const spreads = new Set<string>();
      visit(
        node,
        visitWithTypeInfo(typeInfo, {
          VariableDefinition: () => false,
          Argument: () => false,
          FragmentSpread: ({ name }) => void spreads.add(name.value),
          Field: (field) => this.#values.walkArguments(field, typeInfo.getFieldDef() ?? undefined, uses),
          Directive: (directive) => this.#values.walkArguments(directive, typeInfo.getDirective() ?? undefined, uses),
        }),
      );
      return { node, uses, spreads };
    });
  }

  /** Adapts the defaults of variables to the declared types. */
  #adaptDefaults(scopes: readonly Scope[]): void {
    for (const { variables } of scopes) {
      for (const [name, { type: node, defaultValue }] of variables) {
        const type = typeFromAST(this.#schema, node as never);
        if (defaultValue && isInputType(type))
          this.#values.walkDefault(defaultValue, { type, hasDefault: false, path: 'the default', owner: `$${name}` });
      }
    }
  }

  #replace({ node, replacement, message }: LiteralMismatch): void {
    this.#replaced.set(node, replacement);
    this.#mismatches.push(message);
  }

  /** Renames the uses that match in no operation as they are, if all operations that reach them declare the variable and none refuses. */
  #rename(scopes: readonly Scope[]): void {
    const verdicts = new Map<PlacedUse, Verdict>();
    for (const { variables, reached } of scopes) {
      for (const use of usesIn(reached).filter(isPlaced)) {
        const declared = variables.get(use.name);
        const verdict = declared ? this.#judge(declared, use) : 'refused';
        const known = verdicts.get(use) ?? 'matches';
        if (known !== 'refused' && verdict !== 'matches') verdicts.set(use, verdict);
      }
    }
    for (const [use, verdict] of verdicts) {
      if (verdict !== 'adapted') continue;
      const name = `${use.name}${separator}${getNullableType(use.place.type)}`;
      this.#renamed.set(use, name);
      for (const node of use.nodes) this.#replaced.set(node, { ...node, name: { ...node.name, value: name } });
    }
  }

  #judge(declared: VariableDefinitionNode, use: PlacedUse): Verdict {
    const type = typeFromAST(this.#schema, declared.type as never);
    if (type && isInputType(type) && matches(this.#schema, type, declared, use.place)) return 'matches';
    if (this.#canStand(declared.type, use)) return 'adapted';
    const named = namedTypeOf(declared.type);
    if (!this.#schema.getType(named.name.value)) this.#values.places.set(named, use.place);
    return 'refused';
  }

  /** Whether the value decides: objects and the conditions of directives need the type itself, scalars and enums do not. */
  #canStand(declared: TypeNode, { place, isInDirective }: PlacedUse): boolean {
    if (listsOf(declared) > listsOfType(place.type)) return false;
    const expected = getNamedType(place.type);
    const { value: name } = namedTypeOf(declared).name;
    if (isInputObjectType(expected) || isInDirective) return name === expected.name;
    const type = this.#schema.getType(name);
    return type === undefined || isLeafType(type);
  }

  /** The declarations of an operation: those that are still used, and those that stand for others. */
  #declare({ variables, reached, node }: Scope): readonly VariableDefinitionNode[] {
    const uses = Map.groupBy(usesIn(reached), ({ name }) => name);
    return (node.variableDefinitions ?? []).flatMap((declared) => {
      const name = declared.variable.name.value;
      const own = variables.has(name) ? (uses.get(name) ?? []) : [];
      const adapted = own.filter(isPlaced).filter((use) => this.#renamed.has(use));
      const renamed = Map.groupBy(adapted, (use) => this.#renamed.get(use)!);
      const keeps = renamed.size === 0 || adapted.length < own.length;
      const isOnly = !keeps && renamed.size === 1;
      return [...(keeps ? [declared] : []), ...[...renamed].map(([key, group]) => this.#declareAs(declared, key, group, isOnly))];
    });
  }

  #declareAs(declared: VariableDefinitionNode, key: string, uses: readonly PlacedUse[], isOnly: boolean): VariableDefinitionNode {
    const { variable, defaultValue } = declared;
    const isRequired = uses.some((use) => isNonNullType(use.place.type) && !use.place.hasDefault);
    const mismatched = uses.find((use) => this.#judge(declared, use) !== 'matches');
    const { place } = mismatched ?? uses[0]!;
    const nullable = String(getNullableType(place.type));
    const type = isRequired || declared.type.kind === Kind.NON_NULL_TYPE ? `${nullable}!` : nullable;
    // Another operation that uses the same fragment may be the one that does not match.
    if (mismatched) {
      const remedy = isOnly ? `declare it as ${type}` : `pass the value in a variable of its own, of type ${type}`;
      const was = `$${shorten(variable.name.value)} is declared ${shorten(print(declared.type))}`;
      this.#mismatches.push(`${was}, but ${describePlace(place)} takes ${place.type}: ${remedy}`);
    }
    const isNullDefault = isRequired && defaultValue?.kind === Kind.NULL;
    const adapted = defaultValue && !isNullDefault ? this.#adaptDefault(defaultValue, place) : undefined;
    const { defaultValue: _, ...rest } = declared;
    const node: VariableDefinitionNode = {
      ...rest,
      variable: { ...variable, name: { ...variable.name, value: key } },
      type: parseType(type, { noLocation: true }),
      ...(adapted && { defaultValue: adapted }),
    };
    this.#stands.set(node, place);
    return node;
  }

  #adaptDefault(node: NonNullable<VariableDefinitionNode['defaultValue']>, place: InputPlace) {
    const literals = this.#values.walkDefault(node, place);
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

function isPlaced(use: VariableUse): use is PlacedUse {
  return use.place !== null;
}

function replaceNodes<Node extends ASTNode>(node: Node, replaced: ReadonlyMap<ASTNode, ASTNode>): Node {
  return replaced.size === 0 ? node : visit(node, { enter: (each) => replaced.get(each) });
}

/** Whether a variable is allowed at a place (https://spec.graphql.org/October2021/#IsVariableUsageAllowed()). */
function matches(schema: GraphQLSchema, type: GraphQLInputType, { defaultValue }: VariableDefinitionNode, place: InputPlace): boolean {
  if (!isNonNullType(place.type) || isNonNullType(type)) return isTypeSubTypeOf(schema, type, place.type);
  const hasValue = defaultValue !== undefined && defaultValue.kind !== Kind.NULL;
  return (hasValue || place.hasDefault) && isTypeSubTypeOf(schema, type, place.type.ofType);
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

/** Which definitions an operation reaches through fragments, with the variables that it declares for them. The document need not be valid. */

export interface Definition {
  readonly node: DefinitionNode;
  readonly uses: VariableUses;
  /** The names of the fragments that it spreads. */
  readonly spreads: Set<string>;
}

/** An operation with everything that it reaches. */
export interface Scope {
  readonly node: OperationDefinitionNode;
  /** By name; empty if two variables have one name, which is invalid. */
  readonly variables: ReadonlyMap<string, VariableDefinitionNode>;
  readonly reached: readonly Definition[];
}

/** The operations, each with the definitions that it reaches through fragments. */
export function scopesOf(definitions: readonly Definition[]): Scope[] {
  const fragments = new Map<string, Definition>();
  for (const definition of definitions)
    if (definition.node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.node.name.value, definition);
  return definitions.flatMap((definition) => {
    const { node } = definition;
    if (node.kind !== Kind.OPERATION_DEFINITION) return [];
    const reached = new Set([definition]);
    // A set visits what is added to it meanwhile.
    for (const { spreads } of reached) {
      for (const name of spreads) {
        const fragment = fragments.get(name);
        if (fragment) reached.add(fragment);
      }
    }
    const declared = node.variableDefinitions ?? [];
    const variables = new Map(declared.map((each) => [each.variable.name.value, each]));
    return [{ node, variables: variables.size === declared.length ? variables : new Map(), reached: [...reached] }];
  });
}

/** The uses of variables in some definitions. */
export function usesIn(definitions: readonly Definition[]): VariableUse[] {
  return definitions.flatMap(({ uses }) => [...uses.values()]);
}
