/** What a client prefers: the headers Accept and Accept-Encoding (RFC 9110, section 12.4.2), and Prefer. */
import { ApiError } from '../../errors/api-error.ts';

interface Preference {
  /** In lower case, without parameters. */
  readonly value: string;
  /** Parameters other than `q`, in lower case. */
  readonly parameters: readonly string[];
  /** From 0 (rejected) to 1. */
  readonly quality: number;
}

/** The items of a header, in order. An item whose quality is not a number counts as rejected. */
export function parsePreferences(header: string): readonly Preference[] {
  return header
    .toLowerCase()
    .split(',')
    .map((item) => item.split(';').map((part) => part.trim()))
    .filter(([value]) => value !== '')
    .map(([value = '', ...parameters]) => ({
      value,
      parameters: parameters.filter((parameter) => !parameter.startsWith('q=')),
      quality: readQuality(parameters.find((parameter) => parameter.startsWith('q='))),
    }));
}

function readQuality(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  return /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(parameter) ? Number(parameter.slice(2)) : 0;
}

export type MediaType = 'application/json' | 'application/graphql-response+json';

/**
 * The media type that the client prefers: `application/graphql-response+json` if the client prefers it at least as much as
 * `application/json`, otherwise `application/json`. Throws NOT_ACCEPTABLE if it accepts neither.
 */
export function negotiateMediaType(accept: string | undefined): MediaType {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  const preferences = parsePreferences(accept);
  const usable = preferences.filter((preference) => preference.parameters.every(isPossible));
  // An empty list expresses no preference.
  if (preferences.length === 0) return 'application/json';
  const modern = qualityOf('application/graphql-response+json', usable);
  const plain = qualityOf('application/json', usable);
  if (modern === 0 && plain === 0) {
    throw new ApiError('NOT_ACCEPTABLE', 'The Accept header must allow application/graphql-response+json or application/json.');
  }
  const named = usable.some(({ value }) => value === 'application/graphql-response+json');
  return modern > plain || (named && modern === plain) ? 'application/graphql-response+json' : 'application/json';
}

/** The quality of the most specific range that covers the type (RFC 9110, section 12.5.1). */
function qualityOf(mediaType: MediaType, preferences: readonly Preference[]): number {
  for (const range of [mediaType, 'application/*', '*/*']) {
    const found = preferences.find(({ value }) => value === range);
    if (found !== undefined) return found.quality;
  }
  return 0;
}

/** Responses are UTF-8; other parameters have no effect. */
function isPossible(parameter: string): boolean {
  return !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter);
}

/** How a response that goes on is written: as an event stream, or as the parts of a message in Apollo's or in the plain form. */
export type StreamFormat = 'events' | 'apollo-parts' | 'parts';

export interface StreamPreference {
  readonly format: StreamFormat;
  /** Whether the client takes no plain JSON. Otherwise only subscriptions are streamed. */
  readonly isRequired: boolean;
}

/** How the client wants the answers of a subscription; null if it has not said so. */
export function negotiateStream(accept: string | undefined): StreamPreference | null {
  if (accept === undefined || !/text\/event-stream|multipart\/mixed/i.test(accept)) return null;
  const preferences = parsePreferences(accept);
  const streams = preferences.filter(({ value, quality }) => quality > 0 && (value === 'text/event-stream' || value === 'multipart/mixed'));
  const best = Math.max(...streams.map(({ quality }) => quality));
  const chosen = streams.find(({ quality }) => quality === best);
  if (chosen === undefined) return null;
  const isRequired = qualityOf('application/json', preferences) === 0 && qualityOf('application/graphql-response+json', preferences) === 0;
  if (chosen.value === 'text/event-stream') return { format: 'events', isRequired };
  const isApollo = chosen.parameters.some((parameter) => /^subscriptionspec="?1\.0"?$/.test(parameter));
  return { format: isApollo ? 'apollo-parts' : 'parts', isRequired };
}

/** The elements of the header. A comma inside quotes does not separate elements. */
const elements = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;

/**
 * In milliseconds: the preference `wait` (in seconds, possibly a fraction) if it is given and shorter than `longest`. The first `wait`
 * counts; anything but a number above 0 is ignored, because nothing can be answered in no time.
 */
export function readTimeout(prefer: string | string[] | undefined, longest: number): number {
  if (prefer === undefined) return longest;
  const wait = String(prefer)
    .match(elements)
    ?.find((element) => /^\s*wait\s*(?:[=;]|$)/i.test(element));
  const [, plain, quoted] = /^\s*wait\s*=\s*(?:(\d+(?:\.\d+)?)|"(\d+(?:\.\d+)?)")\s*(?:;|$)/i.exec(wait ?? '') ?? [];
  const millis = Math.ceil(Number(plain ?? quoted) * 1000);
  return millis > 0 ? Math.min(longest, millis) : longest;
}
