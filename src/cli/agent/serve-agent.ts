/** Serves one agent on standard input and output, over a database or over a running server, until the agent hangs up. */
import { ApiError } from '../../errors/api-error.ts';
import type { Event, Observer } from '../../events.ts';

import type { TrustedDocument } from '../../http/documents/trusted-documents.ts';
import { type Caller, createRowgraph } from '../../index.ts';
import { serveOnStdio } from '../../mcp/serve-agents.ts';
import type { AgentSession } from '../../mcp/session.ts';
import { createTelemetry } from '../../telemetry/create-telemetry.ts';
import { checkDatabase, explainLoadError } from '../check-database.ts';
import { CommandError, SilentExitError } from '../command-error.ts';
import { type AgentConfiguration, graphOptionsOf } from '../command-settings.ts';
import { readPackageFile } from '../package-file.ts';
import { watchForEnd } from '../serve/process-end.ts';
import { openTrustedDocuments } from '../serve/trusted-documents.ts';
import { checkSession, openLocalSession, type SessionDocuments } from './local-session.ts';
import { openRemoteSession } from './remote-session.ts';

/** As whom the agent acts, and what it may do. */
interface AgentFlags {
  readonly caller: Caller;
  /** The flag that named the role. */
  readonly roleFlag: string;
  readonly allowsWrites: boolean;
}

interface Opened {
  readonly open: (documents: SessionDocuments) => AgentSession;
  readonly close: () => Promise<void>;
}

/** One agent seldom runs more at a time. */
const poolSize = 3;
const none: ReadonlyMap<string, TrustedDocument> = new Map();

/** Resolves when the agent has hung up, or the process is told to end. Standard output has messages of the protocol only. */
export async function serveAgent(configuration: AgentConfiguration, flags: AgentFlags): Promise<void> {
  const telemetry = createTelemetry({ level: configuration.logLevel });
  let noteChange = (): void => undefined;
  const observe: Observer = (event) => {
    telemetry.observe(event);
    if (changesTools(event)) noteChange();
  };
  const end = watchForEnd(observe);
  const documents = await openTrustedDocuments(configuration, observe);
  const opened =
    configuration.url === undefined ? await openDatabase(configuration, flags, observe) : openServer(configuration, configuration.url);
  const session = (): AgentSession =>
    opened.open({ documents: documents?.all ?? none, runsAnyDocument: !configuration.onlyTrustedDocuments });
  try {
    await checkOrExplain(session());
    const { allowsWrites } = flags;
    const settings = { allowsWrites, allowsExplain: true, resultSize: configuration.mcpResultSize };
    const agent = serveOnStdio(session, { ...settings, version: readPackageFile().version, observe });
    noteChange = () => agent.noteChange();
    await Promise.race([agent.closed, end.begun]);
    await agent.close();
  } finally {
    documents?.stop();
    await opened.close();
  }
  if (end.hasFaults()) throw new SilentExitError(1);
}

function changesTools(event: Event): boolean {
  return event.kind === 'schema-loaded' || (event.kind === 'files-loaded' && event.content === 'trusted documents');
}

async function openDatabase(configuration: AgentConfiguration, { caller, roleFlag }: AgentFlags, observe: Observer): Promise<Opened> {
  const { databaseUrl = '', schemas, extraSearchPath } = configuration;
  const { login } = await checkDatabase({ databaseUrl, schemas, extraSearchPath, role: caller.role, roleFlag });
  try {
    const graph = await createRowgraph({ ...graphOptionsOf(configuration), database: databaseUrl, poolSize, observe });
    return { open: (documents) => openLocalSession(graph, caller, documents), close: () => graph.close() };
  } catch (error) {
    throw explainLoadError(error, { databaseUrl, schemaTriggers: false, login: login.role });
  }
}

function openServer({ apiKey, token, requestTimeout: timeout }: AgentConfiguration, url: string): Opened {
  const server = { url, apiKey, token, timeout };
  return { open: (documents) => openRemoteSession(server, documents), close: async () => {} };
}

async function checkOrExplain(session: AgentSession): Promise<void> {
  try {
    await checkSession(session);
  } catch (error) {
    if (error instanceof ApiError || error instanceof TypeError) throw new CommandError(error.message, 2, error);
    throw error;
  }
}
