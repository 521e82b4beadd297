/**
 * Serves what the page of `rowgraph dev` may do beyond the endpoint, as POST requests with JSON. In: the backend, and the path of the page;
 * out: actions by path. Only this server's own page, in a browser on this machine, is accepted.
 */
import { Deadline } from '../budget/deadline.ts';
import type { Caller, GraphQLRequest } from '../engine/request.ts';
import { ApiError, isJsonObject } from '../errors/api-error.ts';
import { errorCodes } from '../errors/codes.ts';
import { checkLocalPage } from './check-local-page.ts';
import type { Exchange } from './exchange.ts';
import type { PageBackend } from './page-backend.ts';
import { checkContentType, parseBody } from './parse-body.ts';
import { NamedRequest, readParameters } from './request-parameters.ts';
import type { Action } from './route.ts';
import type { HttpResponse } from './send-response.ts';

/** In bytes. */
const bodyLimit = 1024 * 1024;
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
  ];
}

function asAction(answer: (body: Members) => Promise<unknown>): Action {
  return async (exchange) => {
    checkLocalPage(exchange);
    checkContentType(exchange.headers);
    const body = await readMembers(exchange);
    try {
      return respond(200, await answer(body));
    } catch (error) {
      // An invalid document has several errors.
      const { errors } = error as { readonly errors?: readonly ApiError[] };
      const [first] = errors ?? [];
      if (first instanceof ApiError) return respond(errorCodes[first.code].status, { errors });
      throw error;
    }
  };
}

function respond(status: number, value: unknown): HttpResponse {
  const headers = ['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store'];
  return { status, headers, body: JSON.stringify(value) };
}

async function readMembers(exchange: Exchange): Promise<Members> {
  const deadline = new Deadline(bodyTimeout);
  exchange.deadline = deadline;
  const value = await parseBody(await exchange.readBody(bodyLimit), deadline);
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
