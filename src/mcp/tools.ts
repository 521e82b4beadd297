/** Which tools a session has. What is known of the trusted documents is kept until they or the schema change. */
import { type DocumentOperation, listOperations, makeDocumentTool, readInputTypes } from './document-tools.ts';
import type { InputTypes } from './input-schemas.ts';
import { mayIntrospect } from './introspect.ts';
import { makeOperationTools } from './operation-tools.ts';
import { makeSchemaTools } from './schema-tools.ts';
import type { AgentSession, AgentSettings } from './session.ts';
import type { Tool } from './tool.ts';

/** What a role may run of the documents. */
interface KnownDocuments {
  readonly documents: AgentSession['documents'];
  readonly operations: readonly DocumentOperation[];
  readonly types: InputTypes;
}

/** The roles of a graph whose documents are kept; tokens may name many. */
const mostRoles = 50;
const schemaToolNames: ReadonlySet<string> = new Set(['list_types', 'list_fields', 'describe_type']);
const reserved: ReadonlySet<string> = new Set([...schemaToolNames, 'run_query', 'run_mutation', 'explain_query']);

export class ToolBox {
  readonly settings: AgentSettings;
  /** By graph and role. */
  #known = new WeakMap<object, Map<string, KnownDocuments>>();

  constructor(settings: AgentSettings) {
    this.settings = settings;
  }

  /** Must be called when the schema may have changed. */
  forget(): void {
    this.#known = new WeakMap();
  }

  /** All tools of a session. Rejects with `ApiError` if the schema cannot be read now. */
  async list(session: AgentSession): Promise<readonly Tool[]> {
    const isKnown = await mayIntrospect(session);
    const { operations, types } = await this.#documentsOf(session, isKnown);
    const ofDocuments = operations.map((operation) => makeDocumentTool(session, operation, types, this.settings));
    return [...this.#schemaTools(session, isKnown), ...this.#operationTools(session), ...ofDocuments];
  }

  /** Null if the session has no such tool. */
  async find(session: AgentSession, name: string): Promise<Tool | null> {
    const byName = (tool: Tool): boolean => tool.definition.name === name;
    const own = this.#operationTools(session).find(byName);
    if (own !== undefined) return own;
    const isKnown = await mayIntrospect(session);
    if (schemaToolNames.has(name)) return this.#schemaTools(session, isKnown).find(byName) ?? null;
    const { operations, types } = await this.#documentsOf(session, isKnown);
    const operation = operations.find(({ toolName }) => toolName === name);
    return operation === undefined ? null : makeDocumentTool(session, operation, types, this.settings);
  }

  #operationTools(session: AgentSession): readonly Tool[] {
    return session.runsAnyDocument ? makeOperationTools(session, this.settings) : [];
  }

  /** Who may not write documents has no use for the schema. */
  #schemaTools(session: AgentSession, isKnown: boolean): readonly Tool[] {
    return session.runsAnyDocument && isKnown ? makeSchemaTools(session, this.settings) : [];
  }

  async #documentsOf(session: AgentSession, isKnown: boolean): Promise<KnownDocuments> {
    const { graph, role, documents } = session;
    const store = this.#known;
    const roles = store.get(graph) ?? new Map<string, KnownDocuments>();
    const kept = roles.get(role);
    if (kept?.documents === documents) return kept;
    const valid = await validDocuments(session);
    const operations = listOperations(valid, this.settings, reserved);
    const known = { documents, operations, types: await readInputTypes(session, operations, isKnown) };
    roles.delete(role);
    roles.set(role, known);
    if (roles.size > mostRoles) for (const oldest of [...roles.keys()].slice(0, roles.size - mostRoles)) roles.delete(oldest);
    store.set(graph, roles);
    return known;
  }
}

/** Those that are valid for the role: others would show it names that it does not see. */
async function validDocuments({ documents, isValid }: AgentSession): Promise<AgentSession['documents']> {
  if (isValid === null) return documents;
  const valid = new Map<string, { readonly text: string }>();
  for (const [id, document] of documents) if (await isValid(document.text)) valid.set(id, document);
  return valid;
}
