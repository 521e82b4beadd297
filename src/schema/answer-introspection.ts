/**
 * Answers `__schema` and `__type` from the part of the schema that introspection may tell, and remembers the answers as text.
 */
import {
  type DocumentNode,
  executeSync,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';
import { DescribedSchema } from './described-schema.ts';
import type { LazySchema } from './lazy-schema.ts';

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** A schema with the answers given of it. */
export interface IntrospectedSchema {
  readonly schema: GraphQLSchema;
  readonly answers: LRUCache<string, string>;
}

/** Characters of all remembered answers together: the full introspection of a large schema is megabytes. */
const answersText = 16_000_000;

/** What introspection tells of a schema. */
export function introspectedSchema(schema: LazySchema): IntrospectedSchema {
  return {
    schema: new DescribedSchema(schema),
    answers: new LRUCache<string, string>({ maxSize: answersText, sizeCalculation: (answer) => answer.length + 1 }),
  };
}

/** JSON text of what the operation selects under `key`, a root field of introspection. Requests of one `identity` have one answer. */
export function answerIntrospection(
  { schema, answers }: IntrospectedSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Readonly<Record<string, unknown>>,
  key: string,
  identity: string,
): string {
  const name = `${key} ${identity}`;
  const known = answers.get(name);
  if (known !== undefined) return known;
  const document = onlyIntrospection(operation, fragments);
  const { data, errors } = executeSync({ schema, document, variableValues: variables });
  if (errors?.[0]) throw new ApiError('BAD_USER_INPUT', errors[0].message, { cause: errors[0] });
  const told = emptyInsteadOfNull(data ?? {}, selectionsOf([document.definitions[0] as OperationDefinitionNode], fragments), fragments);
  for (const [each, value] of Object.entries(told)) answers.set(`${each} ${identity}`, JSON.stringify(value));
  return JSON.stringify(told[key] ?? null);
}

/** The operation without its fields for data and their variables: graphql-js would look for resolvers. */
function onlyIntrospection(operation: OperationDefinitionNode, fragments: Fragments): DocumentNode {
  const reduced: OperationDefinitionNode = {
    ...operation,
    // The arguments of introspection and of @skip and @include are strings and booleans.
    variableDefinitions: (operation.variableDefinitions ?? []).filter(({ type }) => ['String', 'Boolean'].includes(namedType(type))),
    selectionSet: withoutData(operation.selectionSet),
  };
  const kept = [...fragments.values()].map((fragment) =>
    fragment.typeCondition.name.value === 'Query' ? { ...fragment, selectionSet: withoutData(fragment.selectionSet) } : fragment,
  );
  return { kind: Kind.DOCUMENT, definitions: [reduced, ...kept] };
}

function withoutData(selectionSet: SelectionSetNode): SelectionSetNode {
  return {
    ...selectionSet,
    selections: selectionSet.selections.flatMap((selection): SelectionNode[] => {
      if (selection.kind === Kind.FIELD) return selection.name.value === '__schema' || selection.name.value === '__type' ? [selection] : [];
      return selection.kind === Kind.INLINE_FRAGMENT ? [{ ...selection, selectionSet: withoutData(selection.selectionSet) }] : [selection];
    }),
  };
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * The answer with `[]` for the `enumValues` and `interfaces` of types that have none, as the reference gives it and clients of it have
 * seen it; graphql-js answers null there.
 */
function emptyInsteadOfNull(answer: Answer, selections: ReadonlyMap<string, readonly FieldNode[]>, fragments: Fragments): Answer {
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]) => {
      const nodes = selections.get(key) ?? [];
      const name = nodes[0]?.name.value;
      if (value === null) return [key, name === 'enumValues' || name === 'interfaces' ? [] : null];
      if (typeof value !== 'object') return [key, value];
      const inner = selectionsOf(nodes, fragments);
      const convert = (item: unknown) =>
        typeof item === 'object' && item !== null ? emptyInsteadOfNull(item as Answer, inner, fragments) : item;
      return [key, Array.isArray(value) ? value.map(convert) : convert(value)];
    }),
  );
}

/** The fields selected by these nodes, by response key. Types of introspection are objects, so every fragment applies. */
function selectionsOf(
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  fragments: Fragments,
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  for (const { selectionSet } of nodes) {
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        fields.set(key, [...(fields.get(key) ?? []), selection]);
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
      for (const [key, inner] of selectionsOf(fragment ? [fragment] : [], fragments))
        fields.set(key, [...(fields.get(key) ?? []), ...inner]);
    }
  }
  return fields;
}

function namedType(type: { kind: Kind } & object): string {
  if (type.kind === Kind.NAMED_TYPE) return (type as { name: { value: string } } & typeof type).name.value;
  return namedType((type as { type: typeof type } & typeof type).type);
}
