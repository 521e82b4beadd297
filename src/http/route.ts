/** What answers GET and HEAD at one path. Types only. */
import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';

export type Route = (request: IncomingMessage) => Answer | Promise<Answer>;
