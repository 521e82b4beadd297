/** The handler of GET and HEAD at one path. Types only. */
import type { IncomingMessage } from 'node:http';
import type { HttpResponse } from './send-response.ts';

export type Route = (request: IncomingMessage) => HttpResponse | Promise<HttpResponse>;
