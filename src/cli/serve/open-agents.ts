/** The protocol of agents, for a server that serves them. */
import type { Observer } from '../../events.ts';
import type { Agents } from '../../mcp/create-agents.ts';
import type { ServiceConfiguration } from '../command-settings.ts';
import { agentPackages, checkPackages } from '../package-file.ts';

/** Null if agents are not served. Throws `CommandError` if the SDK is not installed. */
export async function openAgents(
  { mcp, mcpWrites, mcpExplain, mcpResultSize }: Pick<ServiceConfiguration, 'mcp' | 'mcpWrites' | 'mcpExplain' | 'mcpResultSize'>,
  observe: Observer,
): Promise<Agents | null> {
  if (!mcp) return null;
  checkPackages(agentPackages);
  const { createAgents } = await import('../../mcp/create-agents.ts');
  return createAgents({ writes: mcpWrites, explain: mcpExplain, resultSize: mcpResultSize, observe });
}
