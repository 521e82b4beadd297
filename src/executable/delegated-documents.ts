/**
 * The part of an operation that the engine executes: some of its root fields, without what other schemas have added to ours. In: an
 * operation with its fragments, and the response keys of root fields; out: a document and the names of its variables.
 */
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type OperationTypeNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The response key under which an object's type is requested if it may be one of several: a name that no client would use. */
export const typenameKey = '__rowgraph_typename';

interface DelegatedDocument {
  readonly text: string;
  readonly variables: readonly string[];
}

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>;

/** How many documents to keep per operation: one for each set of root fields, of which `@skip` and `@include` make several. */
const mostSets = 16;

export class DelegatedDocuments {
  readonly #schema: GraphQLSchema;
  readonly #documents = new WeakMap<OperationDefinitionNode, Map<string, DelegatedDocument>>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  hasMutation(name: string): boolean {
    return Object.hasOwn(this.#schema.getMutationType()?.getFields() ?? {}, name);
  }

  /**
   * The document for the root fields with these response keys. Cached with the operation, because servers keep operations that they have
   * parsed.
   */
  of(operation: OperationDefinitionNode, fragments: Fragments, keys: ReadonlySet<string>): DelegatedDocument {
    const documents = this.#documents.get(operation) ?? new Map<string, DelegatedDocument>();
    this.#documents.set(operation, documents);
    const set = [...keys].sort().join();
    const document = documents.get(set) ?? writeDocument(this.#schema, operation, fragments, keys);
    if (documents.size < mostSets) documents.set(set, document);
    return document;
  }
}

interface RootField {
  readonly key: string;
  readonly name: string;
}

/** The root fields that an execution resolves, in order: those that `@skip` and `@include` leave. */
export function rootFieldsOf({
  operation: { selectionSet },
  fragments,
  variableValues,
}: Pick<GraphQLResolveInfo, 'operation' | 'fragments' | 'variableValues'>): readonly RootField[] {
  const isIncluded = (node: SelectionNode): boolean =>
    getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.if !== false;
  const found = new Map<string, RootField>();
  const spread = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection)) continue;
      if (selection.kind === Kind.FIELD) {
        const field = { key: keyOf(selection), name: selection.name.value };
        if (!found.has(field.key)) found.set(field.key, field);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments[selection.name.value];
        if (fragment !== undefined) collect(fragment.selectionSet);
      }
    }
  };
  collect(selectionSet);
  return [...found.values()];
}

function keyOf(field: { readonly alias?: { readonly value: string } | undefined; readonly name: { readonly value: string } }): string {
  return (field.alias ?? field.name).value;
}

function writeDocument(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  keys: ReadonlySet<string>,
): DelegatedDocument {
  const typeInfo = new TypeInfo(schema);
  const pruner = createPruner(schema, typeInfo, fragments, operation.operation, keys);
  const prune = <Node extends ASTNode>(node: Node): Node => visit(node, visitWithTypeInfo(typeInfo, pruner));
  const pruned = prune(operation);
  const used = new Map<string, FragmentDefinitionNode>();
  const variables = new Set<string>();
  const inspect = (node: ASTNode): void => {
    visit(node, {
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread: ({ name }) => {
        const fragment = fragments[name.value];
        if (fragment === undefined || used.has(name.value)) return;
        const kept = prune(fragment);
        used.set(name.value, kept);
        inspect(kept);
      },
    });
  };
  inspect(pruned.selectionSet);
  const variableDefinitions = (operation.variableDefinitions ?? []).filter(({ variable }) => variables.has(variable.name.value));
  const definition: OperationDefinitionNode = { ...pruned, variableDefinitions };
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [definition, ...used.values()] };
  return { text: print(document), variables: [...variables] };
}

const ownDirectives: ReadonlySet<string> = new Set(['skip', 'include']);
const typenameField = field('__typename');

/** Removes what is not the engine's, and requests the type wherever the executor needs it. */
function createPruner(
  schema: GraphQLSchema,
  typeInfo: TypeInfo,
  fragments: Fragments,
  kind: OperationTypeNode,
  keys: ReadonlySet<string>,
): ASTVisitor {
  const root = schema.getRootType(kind);
  const exists = (name: string | undefined): boolean => name === undefined || schema.getType(name) !== undefined;
  return {
    Directive: ({ name }) => (ownDirectives.has(name.value) ? undefined : null),
    Field(node) {
      if (typeInfo.getParentType() === root && !keys.has(keyOf(node))) return null;
      return node.name.value === '__typename' || typeInfo.getFieldDef() ? undefined : null;
    },
    InlineFragment: ({ typeCondition }) => (exists(typeCondition?.name.value) ? undefined : null),
    FragmentSpread: ({ name }) => (exists(fragments[name.value]?.typeCondition.name.value) ? undefined : null),
    SelectionSet: {
      leave(node) {
        const type = typeInfo.getParentType();
        if (isAbstractType(type)) return { ...node, selections: [...node.selections, field('__typename', typenameKey)] };
        return node.selections.length === 0 ? { ...node, selections: [typenameField] } : undefined;
      },
    },
  };
}

function field(name: string, alias?: string): SelectionNode {
  const nameOf = (value: string) => ({ kind: Kind.NAME, value }) as const;
  return { kind: Kind.FIELD, name: nameOf(name), ...(alias !== undefined && { alias: nameOf(alias) }) };
}
