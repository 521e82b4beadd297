/**
 * Chooses the media type of the response (https://graphql.github.io/graphql-over-http/draft/#sec-Media-Types). In: the Accept header; out:
 * one of two types, which also decides the status of a request that failed before it was executed.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors/api-error.ts';
import { type Preference, parsePreferences } from './quality-values.ts';

export type MediaType = 'application/json' | 'application/graphql-response+json';

/** Clients send few different headers, but a hostile one may send many, so the cache is bounded. */
const known = new LRUCache<string, MediaType>({ max: 200 });

/**
 * The media type that the client prefers: `application/graphql-response+json` if the client prefers it at least as much as
 * `application/json`, otherwise `application/json`. Throws NOT_ACCEPTABLE if it accepts neither.
 */
export function negotiateMediaType(accept: string | undefined): MediaType {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  const remembered = known.get(accept);
  if (remembered !== undefined) return remembered;
  const mediaType = choose(parsePreferences(accept));
  if (accept.length <= 1000) known.set(accept, mediaType);
  return mediaType;
}

function choose(preferences: readonly Preference[]): MediaType {
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
