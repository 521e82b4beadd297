/** A stream that goes on from another cursor: its request, with a variable as the argument `after` of its root field. */
import {
  type DocumentNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  separateOperations,
  type VariableDefinitionNode,
  visit,
} from 'graphql';
import type { GraphQLRequest } from './request.ts';

/** A document whose variable `cursor` says where the stream begins. */
interface ResumableDocument {
  readonly query: string;
  readonly cursor: string;
}

/** Those of requests, and of what they were resumed with. */
const documents = new WeakMap<GraphQLRequest, ResumableDocument>();
const latest = new WeakMap<GraphQLRequest, { readonly cursor: string; readonly request: GraphQLRequest }>();

/** The request for the rows after a cursor. Whoever shares a request and is at the same cursor shares the resumed one, too. */
export function resumeStream(request: GraphQLRequest, cursor: string): GraphQLRequest {
  const known = latest.get(request);
  if (known?.cursor === cursor) return known.request;
  const document = documents.get(request) ?? makeResumable(request);
  const resumed = { ...request, query: document.query, variables: { ...request.variables, [document.cursor]: cursor } };
  for (const each of [request, resumed]) documents.set(each, document);
  latest.set(request, { cursor, request: resumed });
  return resumed;
}

/** The document is valid, and the only root field of its operation is a stream. */
function makeResumable({ query, operationName }: GraphQLRequest): ResumableDocument {
  const byName = separateOperations(parse(query, { noLocation: true }));
  const document = byName[operationName ?? ''] ?? Object.values(byName)[0]!;
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!;
  const taken = new Set(operation.variableDefinitions?.map(({ variable }) => variable.name.value));
  let cursor = 'after';
  for (let number = 2; taken.has(cursor); number += 1) cursor = `after${number}`;
  const streams = new Set(rootFields(document, operation.selectionSet));
  const moved = visit(document, { Field: (field) => (streams.has(field) ? withAfter(field, cursor) : undefined) });
  const used = new Set(usedVariables(moved));
  const withDefinition = ({ variableDefinitions = [], ...rest }: OperationDefinitionNode): OperationDefinitionNode => {
    const kept = variableDefinitions.filter(({ variable }) => used.has(variable.name.value));
    return { ...rest, variableDefinitions: [...kept, definitionOf(cursor)] };
  };
  return { query: print(visit(moved, { OperationDefinition: { leave: withDefinition } })), cursor };
}

/** The fields of the root but `__typename`, wherever fragments have them. */
function* rootFields(document: DocumentNode, { selections }: SelectionSetNode, seen = new Set<string>()): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.INLINE_FRAGMENT) yield* rootFields(document, selection.selectionSet, seen);
    else if (selection.kind === Kind.FIELD) {
      if (selection.name.value !== '__typename') yield selection;
    } else if (!seen.has(selection.name.value)) {
      seen.add(selection.name.value);
      for (const each of document.definitions)
        if (each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value)
          yield* rootFields(document, each.selectionSet, seen);
    }
  }
}

function usedVariables(document: DocumentNode): readonly string[] {
  const names: string[] = [];
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => {
      names.push(name.value);
    },
  });
  return names;
}

function withAfter(field: FieldNode, cursor: string): FieldNode {
  const others = (field.arguments ?? []).filter(({ name }) => name.value !== 'after');
  const value = { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: cursor } } as const;
  return { ...field, arguments: [...others, { kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: 'after' }, value }] };
}

function definitionOf(cursor: string): VariableDefinitionNode {
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: cursor } },
    type: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: 'Cursor' } },
  };
}
