/** `rowgraph serve` and `rowgraph mcp`: serve an existing PostgreSQL until they are stopped, over HTTP, or to one agent on standard input and output. */
import cluster from 'node:cluster';
import { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { type AgentConfiguration, agentSettings, serveSettings } from '../command-settings.ts';
import { addSettings, ConfigurationError, describeMissing, type Environment, readSettings } from '../config.ts';
import { agentPackages, checkPackages } from '../package-file.ts';
import { leave } from '../serve/process-end.ts';
import { addClaims, addRole, callerOf, type Flags } from './with-graph.ts';

export function serveCommand(environment: Environment): Command {
  const command = new Command('serve').description('Serve an existing PostgreSQL database, version 14 to 18');
  return addSettings(command, serveSettings).action(async (flags) => {
    const configuration = readSettings(serveSettings, flags, environment);
    if (configuration.workers > 1 && cluster.isPrimary) {
      const { superviseWorkers } = await import('../serve/supervise-workers.ts');
      return superviseWorkers(configuration);
    }
    const { servePostgres } = await import('../serve/serve-postgres.ts');
    try {
      await servePostgres(configuration, environment);
    } finally {
      // The channel to the primary would keep a worker running.
      cluster.worker?.disconnect();
      leave();
    }
  });
}

export function mcpCommand(environment: Environment): Command {
  const command = new Command('mcp')
    .description('Serve an agent on standard input and output (Model Context Protocol), over a database or a running rowgraph')
    .option('--allow-writes', 'Let the agent run mutations');
  addClaims(addRole(command));
  type Switches = { readonly allowWrites?: true };
  return addSettings(command, agentSettings).action(async ({ allowWrites, ...flags }: Flags & Switches) => {
    const configuration = readSettings(agentSettings, flags, environment);
    checkUse(configuration, flags);
    checkPackages(agentPackages);
    const { serveAgent } = await import('../agent/serve-agent.ts');
    try {
      await serveAgent(configuration, {
        caller: callerOf(flags, configuration),
        roleFlag: flags.role === undefined ? '--anon-role' : '--role',
        allowsWrites: allowWrites === true,
      });
    } finally {
      // Standard input would keep the process running after a signal.
      leave();
    }
  });
}

/** Throws if it is not clear what to serve, or as whom. */
function checkUse({ url, databaseUrl }: AgentConfiguration, { role, claims, databaseUrl: flag }: Flags): void {
  if (url === undefined && databaseUrl === undefined)
    throw new ConfigurationError([`${describeMissing('databaseUrl')}; or give --url and --api-key of a running rowgraph`]);
  if (url === undefined) return;
  if (flag !== undefined) throw new CommandError('--url and --database-url exclude each other: give one of them', 2);
  if (role !== undefined || claims !== undefined)
    throw new CommandError('--role and --claims are for a database: with --url, the key and the token say who the caller is', 2);
}
