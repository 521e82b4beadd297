/** Handlers of GET and HEAD requests, and of POST requests, at one path. Types only. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from './exchange.ts';
import type { HttpResponse } from './send-response.ts';

export type Route = (request: { readonly headers: IncomingHttpHeaders }) => HttpResponse | Promise<HttpResponse>;

/** Reads the body itself. */
export type Action = (exchange: Exchange) => Promise<HttpResponse>;
