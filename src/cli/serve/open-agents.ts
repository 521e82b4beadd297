/** The protocol of agents, for a server that serves them. */
import type { Event, Observer } from '../../events.ts';
import type { AgentProtocol } from '../../mcp/session.ts';
import type { ServiceConfiguration } from '../command-settings.ts';
import { agentPackages, checkPackages, readPackageFile } from '../package-file.ts';

export interface ServedAgents extends AgentProtocol {
  /** Must be called with the events of the graph and of projects. */
  notice(event: Event): void;
}

/** Null if agents are not served. Throws `CommandError` if the SDK is not installed. */
export async function openAgents(
  { mcp, mcpWrites, mcpExplain, mcpResultSize }: Pick<ServiceConfiguration, 'mcp' | 'mcpWrites' | 'mcpExplain' | 'mcpResultSize'>,
  observe: Observer,
): Promise<ServedAgents | null> {
  if (!mcp) return null;
  checkPackages(agentPackages);
  const { openAgentProtocol } = await import('../../mcp/serve-agents.ts');
  const settings = { allowsWrites: mcpWrites, allowsExplain: mcpExplain, resultSize: mcpResultSize };
  const { answer, forget } = openAgentProtocol({ ...settings, version: readPackageFile().version, observe });
  return {
    answer,
    notice: (event) => {
      if (event.kind === 'schema-loaded') forget();
    },
  };
}
