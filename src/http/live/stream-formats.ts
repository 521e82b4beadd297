/**
 * How answers are written into a response that goes on: as an event stream (https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverSSE.md,
 * the protocol of graphql-sse) or as the parts of a multipart message, plain or with Apollo's envelope
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol).
 */
import type { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import type { StreamFormat } from '../endpoint/preferences.ts';
import type { EncodedAnswer } from './encoded-answer.ts';

type Pieces = readonly Uint8Array[];

export interface AnswerFormat {
  readonly contentType: string;
  /** What precedes the first answer. */
  begin(): Pieces;
  frame(answer: EncodedAnswer): Pieces;
  /** A sign of life between answers. */
  readonly heartbeat: Pieces;
  /** What follows the last answer: the errors that ended the operation, if any. */
  end(errors: readonly ApiError[]): Pieces;
}

/** After these, the same request may succeed elsewhere or later: a stream breaks off, so that clients which can do so come back. */
const transient: readonly ErrorCode[] = ['SHUTTING_DOWN', 'OVERLOADED'];

function isTransient(errors: readonly ApiError[]): boolean {
  return errors.some(({ code }) => transient.includes(code));
}

/** In milliseconds: when an `EventSource` comes back, drawn by lot. */
const shortestRetry = 1000;
const longestRetry = 4000;

/** Asks the clients of event streams not to come back all at once. */
export function beginEvents(): Pieces {
  return [Buffer.from(`retry: ${Math.round(shortestRetry + Math.random() * (longestRetry - shortestRetry))}\n\n`)];
}

export const eventHeartbeat: Pieces = [Buffer.from(':\n\n')];
const nextEvent = Buffer.from('event: next\ndata: ');
const eventEnd = Buffer.from('\n\n');
/** `EventSource` reports no event without data. */
const completeEvent = 'event: complete\ndata: \n\n';

const events: AnswerFormat = {
  contentType: 'text/event-stream; charset=utf-8',
  begin: beginEvents,
  frame: (answer) => answer.between(nextEvent, eventEnd),
  heartbeat: eventHeartbeat,
  end(errors) {
    const last = errors.length === 0 ? '' : `event: next\ndata: ${JSON.stringify({ errors })}\n\n`;
    return [Buffer.from(isTransient(errors) ? last : last + completeEvent)];
  },
};

/** The events of one operation among several on an event stream, by its id. */
export function eventsOf(id: string): Pick<AnswerFormat, 'frame' | 'end'> {
  const name = JSON.stringify(id);
  const prefix = Buffer.from(`event: next\ndata: {"id":${name},"payload":`);
  const suffix = Buffer.from('}\n\n');
  return {
    frame: (answer) => answer.between(prefix, suffix),
    end(errors) {
      const last = errors.length === 0 ? '' : `event: next\ndata: ${JSON.stringify({ id, payload: { errors } })}\n\n`;
      return [Buffer.from(isTransient(errors) ? last : `${last}event: complete\ndata: {"id":${name}}\n\n`)];
    },
  };
}

/** A part is complete for its reader when the next delimiter is there, so each is written with the delimiter that follows it. */
const delimiter = '\r\n--graphql';
const partHead = '\r\nContent-Type: application/json; charset=utf-8\r\n\r\n';

function partsBetween(prefix: string, suffix: string): Pick<AnswerFormat, 'begin' | 'frame'> {
  const before = Buffer.from(partHead + prefix);
  const after = Buffer.from(suffix + delimiter);
  return { begin: () => [Buffer.from(delimiter)], frame: (answer) => answer.between(before, after) };
}

function lastPart(text: string): Pieces {
  return [Buffer.from(text === '' ? '--\r\n' : `${partHead}${text}${delimiter}--\r\n`)];
}

/** An empty result, which Apollo's clients skip. */
const emptyPart: Pieces = [Buffer.from(`${partHead}{}${delimiter}`)];

const apolloParts: AnswerFormat = {
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  ...partsBetween('{"payload":', '}'),
  heartbeat: emptyPart,
  end: (errors) => lastPart(errors.length === 0 ? '' : JSON.stringify({ payload: null, errors })),
};

/** Without signs of life: there is none that all clients skip. */
const parts: AnswerFormat = {
  contentType: 'multipart/mixed; boundary="graphql"',
  ...partsBetween('', ''),
  heartbeat: [],
  end: (errors) => lastPart(errors.length === 0 ? '' : JSON.stringify({ errors })),
};

export const formats: Readonly<Record<StreamFormat, AnswerFormat>> = { events, 'apollo-parts': apolloParts, parts };
