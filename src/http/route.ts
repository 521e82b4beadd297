/** The handler of GET and HEAD at one path, and that of POST. Types only. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from './exchange.ts';
import type { HttpResponse } from './send-response.ts';

export type Route = (request: { readonly headers: IncomingHttpHeaders }) => HttpResponse | Promise<HttpResponse>;

/** Reads the body itself. */
export type Action = (exchange: Exchange) => Promise<HttpResponse>;
