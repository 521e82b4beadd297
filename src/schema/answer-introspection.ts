/**
 * Answers `__schema` and `__type` from the part of the schema that introspection may tell, and remembers the answers as text.
 */
import {
  type DocumentNode,
  executeSync,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors.ts';

/** A schema with the answers given of it. */
export interface IntrospectedSchema {
  readonly schema: GraphQLSchema;
  readonly answers: LRUCache<string, string>;
}

/** Characters of all remembered answers together: the full introspection of a large schema is megabytes. */
const answersText = 16_000_000;

export function introspectedSchema(schema: GraphQLSchema): IntrospectedSchema {
  return { schema, answers: new LRUCache<string, string>({ maxSize: answersText, sizeCalculation: (answer) => answer.length + 1 }) };
}

/** JSON text of what the operation selects under `key`, a root field of introspection. Requests of one `identity` have one answer. */
export function answerIntrospection(
  { schema, answers }: IntrospectedSchema,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
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
  for (const [each, value] of Object.entries(data ?? {})) answers.set(`${each} ${identity}`, JSON.stringify(value));
  return JSON.stringify(data?.[key] ?? null);
}

/** The operation without its fields for data and their variables: graphql-js would look for resolvers. */
function onlyIntrospection(operation: OperationDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): DocumentNode {
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

function namedType(type: { kind: Kind } & object): string {
  if (type.kind === Kind.NAMED_TYPE) return (type as { name: { value: string } } & typeof type).name.value;
  return namedType((type as { type: typeof type } & typeof type).type);
}
