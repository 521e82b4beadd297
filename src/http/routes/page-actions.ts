/**
 * Serves what the page of `rowgraph dev` may do beyond the endpoint, as POST requests with JSON. Only this server's own page, in a browser
 * on this machine, is accepted.
 */
import { BlockList, isIPv6 } from 'node:net';
import { Deadline } from '../../budget/deadline.ts';
import type { Caller, GraphQLRequest } from '../../engine/request.ts';
import { ApiError, isJsonObject } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import { jsonResponse } from '../endpoint/error-response.ts';
import type { Exchange } from '../endpoint/exchange.ts';
import { checkContentType, NamedRequest, parseBody, readParameters } from '../endpoint/read-request.ts';
import type { PageBackend, SavedOperations } from './graphiql-page.ts';
import type { Action } from './route-exchange.ts';

/** In bytes. */
const bodyLimit = 512 * 1024;
/** Milliseconds in which a body must arrive. */
const bodyTimeout = 10_000;
/** Levels of objects and lists in claims: tokens are copied and serialized recursively. */
const deepestClaims = 100;

type Members = Readonly<Record<string, unknown>>;

/** The actions below the path of the page. */
export function createPageActions(path: string, backend: PageBackend): readonly (readonly [path: string, action: Action])[] {
  return [
    [`${path}/callers`, asAction(() => backend.listCallers())],
    [`${path}/sign`, asAction((body) => backend.sign(readCaller(body)))],
    [`${path}/explain`, asAction((body) => backend.explain(readRequest(body), readCaller(body), readMode(body)))],
    [`${path}/doctor`, asAction((body) => backend.examine(readCaller(body).role))],
    [`${path}/access`, asAction(() => backend.readAccess())],
    [`${path}/schema`, asAction(async () => ({ version: backend.readSchemaVersion() }))],
    ...(backend.operations === null ? [] : createOperationActions(`${path}/operations`, backend.operations)),
  ];
}

function createOperationActions(path: string, operations: SavedOperations): readonly (readonly [path: string, action: Action])[] {
  const text = (body: Members, name: string): string => {
    const value = body[name];
    if (typeof value !== 'string') throw badRequest(`"${name}" must be a string.`);
    return value;
  };
  const change = (body: Members) => ({ query: text(body, 'query'), variables: text(body, 'variables') });
  const version = (body: Members) => (body.version === null ? null : text(body, 'version'));
  return [
    [`${path}/list`, asAction(async () => ({ operations: await operations.list() }))],
    [`${path}/save`, asAction(async (body) => operations.save(text(body, 'name'), change(body), version(body)))],
    [`${path}/move`, asAction(async (body) => operations.move(text(body, 'name'), text(body, 'to'), text(body, 'version')))],
    [`${path}/remove`, asAction(async (body) => operations.remove(text(body, 'name'), text(body, 'version')))],
  ];
}

function asAction(answer: (body: Members) => Promise<unknown>): Action {
  return async (exchange) => {
    checkLocalPage(exchange);
    checkContentType(exchange);
    const body = await readMembers(exchange);
    try {
      return jsonResponse(200, await answer(body));
    } catch (error) {
      // An invalid document has several errors.
      const { errors } = error as { readonly errors?: readonly ApiError[] };
      const [first] = errors ?? [];
      if (first instanceof ApiError) return jsonResponse(errorCodes[first.code].status, { errors });
      throw error;
    }
  };
}

async function readMembers(exchange: Exchange): Promise<Members> {
  exchange.deadline = new Deadline(bodyTimeout);
  const value = parseBody(await exchange.readBody(bodyLimit));
  if (!isJsonObject(value)) throw badRequest('The body must be a JSON object.');
  return value;
}

function readCaller({ role, claims = {} }: Members): Caller {
  if (typeof role !== 'string' || role === '') throw badRequest('"role" must be the name of a role.');
  if (!isJsonObject(claims)) throw badRequest('"claims" must be an object.');
  checkDepth(claims);
  return { role, claims };
}

/** Throws TOO_DEEP. Works level by level, so that depth uses no stack. */
function checkDepth(claims: Members): void {
  let level: readonly object[] = [claims];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepestClaims)
      throw new ApiError('TOO_DEEP', `"claims" is nested deeper than ${deepestClaims} levels, the maximum. Nest the values less.`);
    level = level.flatMap((container) => Object.values(container).filter((value) => typeof value === 'object' && value !== null));
  }
}

function readRequest(body: Members): GraphQLRequest {
  const request = readParameters({ ...body, extensions: undefined, documentId: undefined });
  if (request instanceof NamedRequest) throw badRequest('"query" must hold the document.');
  return request;
}

function readMode({ mode = 'plan' }: Members): 'plan' | 'analyze' {
  if (mode !== 'plan' && mode !== 'analyze') throw badRequest('"mode" must be "plan" or "analyze".');
  return mode;
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Headers in which proxies name the client that they forward for. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'] as const;

/**
 * Throws BAD_REQUEST unless a request comes from this server's own page, in a browser on this machine: rejects proxies, and other sites
 * that are open in the browser, whether they submit forms, use fetch, or point a host name of theirs at this machine (DNS rebinding).
 */
export function checkLocalPage({ headers, remoteAddress }: Exchange): void {
  const { host = '', origin } = headers;
  const site = headers['sec-fetch-site'];
  if (!isLoopbackAddress(remoteAddress)) throw refuse('it comes from another machine');
  if (proxyHeaders.some((name) => headers[name] !== undefined)) throw refuse('it came through a proxy');
  if (!isLoopbackHost(hostNameOf(host))) throw refuse('its Host header names another host');
  if (origin !== `http://${host}`) throw refuse('its Origin header does not name this server');
  if (site !== undefined && site !== 'same-origin') throw refuse('another site sent it');
}

/** Whether a server that listens on the host can be reached only from this machine. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

function isLoopbackAddress(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Without the port, and without the brackets of an IPv6 address; '' if it is not a host. */
function hostNameOf(host: string): string {
  if (!URL.canParse(`http://${host}`)) return '';
  const { hostname, host: parsed } = new URL(`http://${host}`);
  // If the parsed URL has more than a host, or a different host than was written, browsers and this server may read the header differently.
  return host === parsed || host === `${hostname}:80` ? hostname.replace(/^\[(.*)\]$/, '$1') : '';
}

function refuse(reason: string): ApiError {
  return new ApiError('BAD_REQUEST', `Only the page of "rowgraph dev" may send this request, from the same machine: ${reason}.`);
}
