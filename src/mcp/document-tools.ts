/**
 * A tool for each operation of the trusted documents, with its variables as arguments. Its description is that of the operation
 * (https://spec.graphql.org/September2025/#sec-Descriptions), or the comment above it.
 */
import { createHash } from 'node:crypto';
import { Kind, type OperationDefinitionNode, parse, print, TokenKind, type VariableDefinitionNode } from 'graphql';
import { InputTypes, namedOf } from './input-schemas.ts';
import { runRequest } from './operation-tools.ts';
import type { AgentSession, AgentSettings } from './session.ts';
import { makeTool, type Tool } from './tool.ts';

/** An operation of a trusted document, ready to be made a tool of a session. */
export interface DocumentOperation {
  readonly id: string;
  /** Null if it has none, and so is the only one. */
  readonly operationName: string | null;
  readonly toolName: string;
  readonly description: string;
  readonly kind: 'query' | 'mutation';
  readonly variables: readonly VariableDefinitionNode[];
}

/** The operations that agents may run, each with a name of its own. `taken`: the names of other tools. */
export function listOperations(
  documents: AgentSession['documents'],
  { allowsWrites }: AgentSettings,
  taken: ReadonlySet<string>,
): readonly DocumentOperation[] {
  const names = new Set(taken);
  return [...documents]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([id, { text }]) => readOperations(id, text))
    .filter(({ kind }) => kind === 'query' || allowsWrites)
    .map((operation) => {
      const toolName = nameFreely(operation, names);
      names.add(toolName);
      return { ...operation, toolName };
    });
}

/** None if the document cannot be read: "rowgraph documents" and the log report that. */
function readOperations(id: string, text: string): readonly DocumentOperation[] {
  try {
    const { definitions } = parse(text);
    return definitions.flatMap((node): DocumentOperation[] => {
      if (node.kind !== Kind.OPERATION_DEFINITION || node.operation === 'subscription') return [];
      const { operation: kind, variableDefinitions: variables = [] } = node;
      const operationName = node.name?.value ?? null;
      return [{ id, operationName, toolName: operationName ?? id, description: describeOperation(node), kind, variables }];
    });
  } catch {
    return [];
  }
}

function describeOperation(node: OperationDefinitionNode): string {
  const written = node.description?.value ?? commentAbove(node);
  if (written !== '') return written;
  return `Runs the ${node.operation} ${node.name?.value ?? ''}`.trim();
}

/** The comment lines right above an operation. */
function commentAbove({ loc }: OperationDefinitionNode): string {
  const lines: string[] = [];
  for (let token = loc?.startToken.prev; token?.kind === TokenKind.COMMENT; token = token.prev ?? undefined)
    lines.unshift(token.value.trim());
  return lines.join('\n').trim();
}

/** In characters: clients put a prefix before a name, and models accept 64. */
const longestName = 48;

/** A name that all models accept. Names that collide get a part of a hash, so they do not depend on other documents' order. */
function nameFreely({ toolName, id, operationName }: DocumentOperation, taken: ReadonlySet<string>): string {
  const legal = toolName.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '') || 'document';
  if (legal.length <= longestName && !taken.has(legal)) return legal;
  const digits = createHash('sha256')
    .update(`${id} ${operationName ?? ''}`)
    .digest('hex');
  for (let length = 6; ; length += 2) {
    const name = `${legal.slice(0, longestName - length - 1)}_${digits.slice(0, length)}`;
    if (!taken.has(name) || length >= 40) return name;
  }
}

/** Reads what the schemas of these operations refer to. */
export function readInputTypes(session: AgentSession, operations: readonly DocumentOperation[], isKnown: boolean): Promise<InputTypes> {
  const names = new Set(operations.flatMap(({ variables }) => variables.map(({ type }) => namedOf(type))));
  return InputTypes.read(session, names, isKnown);
}

/** The tool of an operation, which runs it as the session's caller. */
export function makeDocumentTool(
  session: AgentSession,
  { id, operationName, toolName, description, kind, variables }: DocumentOperation,
  types: InputTypes,
  settings: AgentSettings,
): Tool {
  const writer = types.writer();
  const properties = Object.fromEntries(
    variables.map((each) => {
      const described = each.description?.value;
      const standard = each.defaultValue === undefined ? null : `Default: ${print(each.defaultValue)}`;
      const notes = [described, standard].filter((note) => note !== undefined && note !== null).join('. ');
      return [each.variable.name.value, { ...writer.ofVariable(each.type), ...(notes !== '' && { description: notes }) }];
    }),
  );
  writer.finish();
  const required = variables
    .filter(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined)
    .map(({ variable }) => variable.name.value);
  const hasDefinitions = Object.keys(writer.definitions).length > 0;
  return makeTool({
    name: toolName,
    title: operationName ?? id,
    description,
    properties,
    required,
    ...(hasDefinitions && { definitions: writer.definitions }),
    effect: kind === 'query' ? 'reads' : 'writes',
    call: (values, signal) =>
      runRequest(
        session,
        { documentId: id, operationName, variables: values },
        { ...settings, tool: toolName, isReadOnly: kind === 'query', signal },
      ),
  });
}
