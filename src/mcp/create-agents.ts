/** The protocol of agents (docs/agents.md), for servers and for handlers that are mounted elsewhere: the entry `rowgraph/mcp`. */
import { readFileSync } from 'node:fs';
import type { Event, Observer } from '../events.ts';
import { aFunction, aSwitch, checkOptions, type OptionChecks } from '../settings/check-options.ts';
import { settings } from '../settings/settings.ts';
import { openAgentProtocol } from './serve-agents.ts';
import type { AgentProtocol } from './session.ts';

interface AgentsOptions {
  /** Whether agents may run mutations, as far as their role may. Default: false. */
  readonly writes?: boolean;
  /** Whether agents may see the SQL and the plan of operations, which show policies. Default: false. */
  readonly explain?: boolean;
  /** Maximum size of what a tool returns, in bytes. Default: 64 KiB. */
  readonly resultSize?: number;
  /** Called for each defect. */
  readonly observe?: Observer;
}

export interface Agents extends AgentProtocol {
  /** Must be called with the events of the graph, so that tools follow the schema. */
  notice(event: Event): void;
}

const checks: OptionChecks<AgentsOptions> = {
  writes: aSwitch,
  explain: aSwitch,
  resultSize: settings.mcpResultSize.check,
  observe: aFunction,
};

/** What handlers take as `agents`. Throws an `Error` if an option is invalid. */
export function createAgents(options: AgentsOptions = {}): Agents {
  checkOptions(options, checks);
  const { writes = false, explain = false, resultSize = settings.mcpResultSize.default, observe = () => {} } = options;
  const limits = { allowsWrites: writes, allowsExplain: explain, resultSize };
  const { answer, forget } = openAgentProtocol({ ...limits, version: readVersion(), observe });
  return {
    answer,
    notice: ({ kind }) => {
      if (kind === 'schema-loaded') forget();
    },
  };
}

function readVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { readonly version: string }).version;
}
