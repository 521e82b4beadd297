/** A stream that goes on from another cursor: its request, with a variable as the argument `after` of its root field. */
import { type ASTNode, type DocumentNode, type FieldNode, Kind, parse, type SelectionSetNode, separateOperations, visit } from 'graphql';
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

/**
 * The document is valid, and the only root field of its operation is a stream. All else stays where it is: errors still name places of the
 * document that was sent, and it is hardly longer.
 */
function makeResumable({ query, operationName }: GraphQLRequest): ResumableDocument {
  const whole = parse(query);
  const byName = separateOperations(whole);
  const document = byName[operationName ?? ''] ?? Object.values(byName)[0]!;
  const operation = document.definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!;
  const { variableDefinitions = [], directives = [], selectionSet } = operation;
  const taken = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  let cursor = 'after';
  for (let number = 2; taken.has(cursor); number += 1) cursor = `after${number}`;
  const streams = new Set(rootFields(document, selectionSet));
  const used = new Set(usedVariables(document, streams));
  const [first] = variableDefinitions;
  const edits: readonly Edit[] = [
    ...whole.definitions.filter((each) => !document.definitions.includes(each)).map((each) => blank(query, each)),
    ...variableDefinitions.filter(({ variable }) => !used.has(variable.name.value)).map((each) => blank(query, each)),
    first === undefined
      ? insert(startOf(directives[0] ?? selectionSet), `($${cursor}:Cursor)`)
      : insert(startOf(first), `$${cursor}:Cursor `),
    ...[...streams].map((field) => moveTo(field, `$${cursor}`)),
  ];
  // From the end on, so that the places of the others still hold; what is inserted before a node, after what replaces the node.
  const inOrder = edits.toSorted((a, b) => b.start - a.start || b.end - a.end);
  return { query: inOrder.reduce((text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end), query), cursor };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const startOf = (node: ASTNode): number => node.loc!.start;
const insert = (place: number, text: string): Edit => ({ start: place, end: place, text });

/** Keeps the places of what follows. */
function blank(query: string, { loc }: ASTNode): Edit {
  const { start, end } = loc!;
  return { start, end, text: query.slice(start, end).replace(/[^\n\r]/g, ' ') };
}

function moveTo({ name, arguments: given = [] }: FieldNode, cursor: string): Edit {
  const after = given.find((each) => each.name.value === 'after');
  if (after !== undefined) return { start: startOf(after.value), end: after.value.loc!.end, text: cursor };
  const [first] = given;
  return first === undefined ? insert(name.loc!.end, `(after:${cursor})`) : insert(startOf(first), `after:${cursor} `);
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

/** But for those of the argument `after` of the streams. */
function usedVariables(document: DocumentNode, streams: ReadonlySet<FieldNode>): readonly string[] {
  const names: string[] = [];
  visit(document, {
    VariableDefinition: () => false,
    Argument: ({ name }, _key, _siblings, _path, ancestors) =>
      name.value === 'after' && streams.has(ancestors.at(-1) as FieldNode) ? false : undefined,
    Variable: ({ name }) => {
      names.push(name.value);
    },
  });
  return names;
}
