/** Checks what a program passes to make a handler. */

import type { TokenOptions } from '../../auth/token-options.ts';
import {
  aFunction,
  aList,
  anObject,
  aSecret,
  aSwitch,
  checkOptions,
  milliseconds,
  must,
  type OptionChecks,
  optionsOf,
  someTexts,
  texts,
  wholeNumber,
} from '../../settings/check-options.ts';
import { checkOrigin, readProxyTrust } from '../../settings/check-settings.ts';
import { checksIn, settings } from '../../settings/settings.ts';
import type { EndpointOptions } from '../endpoint/endpoint-options.ts';
import type { FetchHandlerOptions } from './create-fetch-handler.ts';
import type { NodeHandlerOptions } from './create-node-handler.ts';

const longestLeeway = 600_000;

const tokenChecks: OptionChecks<TokenOptions> = {
  jwtSecret: aSecret,
  previousJwtSecret: aSecret,
  jwtKeys: settings.jwtKeys.check,
  supabase: settings.supabase.check,
  apiKeys: anObject,
  revokedTokens: aList,
  jwtAudience: someTexts,
  jwtIssuer: someTexts,
  jwtLeeway: milliseconds(0, longestLeeway),
  roleClaim: settings.roleClaim.check,
  tokenRoles: someTexts,
};

const rateLimitChecks: OptionChecks<NonNullable<EndpointOptions['rateLimit']>> = {
  max: wholeNumber(1),
  windowMilliseconds: milliseconds(1, Number.MAX_SAFE_INTEGER),
};

/** Those of the settings, and of what a setting cannot hold. */
const endpointChecks: OptionChecks<EndpointOptions> = {
  ...checksIn('endpoint'),
  agents: must('be what createAgents of rowgraph/mcp returns', isAgentProtocol),
  authenticate: aFunction,
  trustedDocuments: anObject,
  detailedEvents: aSwitch,
  reservedStreams: aSwitch,
  beginTrace: aFunction,
  corsOrigins: texts,
  rateLimit: optionsOf(rateLimitChecks, 'max', 'windowMilliseconds'),
  trustProxy: must('be true, false, or the addresses of proxies', (value) => typeof value === 'boolean' || typeof value === 'string'),
};

const nodeChecks: OptionChecks<NodeHandlerOptions> = {
  ...tokenChecks,
  ...endpointChecks,
  maxPipelinedRequests: settings.maxPipelinedRequests.check,
  observe: aFunction,
};
const fetchChecks: OptionChecks<FetchHandlerOptions> = {
  ...tokenChecks,
  ...endpointChecks,
  clientAddress: aFunction,
  upgradeWebSocket: aFunction,
  observe: aFunction,
};

/** Throws an `Error` if the graph or an option of `createNodeHandler` is wrong. */
export function checkNodeHandler(graph: unknown, options: NodeHandlerOptions): void {
  checkGraph(graph);
  checkOptions(options, nodeChecks);
  checkEntries(options);
}

/** Throws an `Error` if the graph or an option of `createFetchHandler` is wrong. */
export function checkFetchHandler<Rest extends readonly unknown[]>(graph: unknown, options: FetchHandlerOptions<Rest>): void {
  checkGraph(graph);
  checkOptions(options, fetchChecks as OptionChecks<FetchHandlerOptions<Rest>>);
  checkEntries(options);
  const { clientAddress, rateLimit, trustProxy } = options;
  if (clientAddress !== undefined) return;
  if (rateLimit !== undefined && !trustProxy)
    throw new Error('rateLimit counts requests per address. Set clientAddress or trustProxy to provide the address.');
  if (typeof trustProxy === 'string')
    throw new Error(
      'trustProxy names proxies by their addresses. Set clientAddress to provide the address of a request, or trust any proxy with true.',
    );
}

function isAgentProtocol(value: unknown): boolean {
  return typeof (value as { answer?: unknown } | null)?.answer === 'function';
}

/** A program may pass the promise of a graph. */
function checkGraph(graph: unknown): void {
  if (typeof (graph as { executeRaw?: unknown } | null | undefined)?.executeRaw !== 'function')
    throw new TypeError('The graph is missing. Pass what createRowgraph resolves to: await createRowgraph(…).');
}

function checkEntries({ corsOrigins = [], trustProxy = false }: EndpointOptions): void {
  inOption('corsOrigins', () => corsOrigins.forEach(checkOrigin));
  inOption('trustProxy', () => readProxyTrust(trustProxy));
}

function inOption(name: keyof EndpointOptions, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new TypeError(`The option "${name}" is wrong: ${(error as Error).message}`);
  }
}
