/**
 * The parameters of a GET request, from the query of its URL (https://graphql.github.io/graphql-over-http/draft/#sec-GET). In: the target
 * of the request; out: the value that the body of the same request as a POST would have. `request-parameters.ts` checks its members.
 */
import { ApiError, quote } from '../errors/api-error.ts';

/** In characters: servers and proxies should support this length (RFC 9110, section 4.1), and many support no more. */
export const longestUrl = 8192;

/** The known parameters, and whether their values are JSON. Others are ignored: caches and proxies add some. */
const meanings: ReadonlyMap<string, 'text' | 'json'> = new Map([
  ['query', 'text'],
  ['documentId', 'text'],
  ['operationName', 'text'],
  ['variables', 'json'],
  ['extensions', 'json'],
]);

/** The parameters by name. Throws URI_TOO_LONG, and BAD_REQUEST for a parameter that cannot be decoded or is repeated. */
export function parseUrl(url: string): Readonly<Record<string, unknown>> {
  if (url.length > longestUrl)
    throw new ApiError(
      'URI_TOO_LONG',
      `The URL is longer than ${longestUrl} characters. Send the request as a POST request with a JSON body.`,
    );
  const start = url.indexOf('?');
  const parameters: Record<string, unknown> = {};
  if (start === -1) return parameters;
  for (const pair of url.slice(start + 1).split('&')) {
    const end = pair.indexOf('=');
    const name = decode(end === -1 ? pair : pair.slice(0, end), 'The name of a URL parameter');
    const meaning = meanings.get(name);
    if (meaning === undefined) continue;
    // A proxy or a cache in front of rowgraph may use a different value than rowgraph does.
    if (Object.hasOwn(parameters, name)) throw badRequest(`The URL parameter "${name}" is there more than once. Send it once.`);
    const text = end === -1 ? '' : decode(pair.slice(end + 1), `The URL parameter "${name}"`);
    parameters[name] = meaning === 'json' ? parseParameter(name, text) : readText(name, text);
  }
  return parameters;
}

/** `application/x-www-form-urlencoded`: a plus sign may stand for a space. */
function decode(text: string, subject: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw badRequest(`${subject} cannot be decoded: ${quote(text)}. Encode it as UTF-8, with % followed by two hexadecimal digits.`);
  }
}

function parseParameter(name: string, text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError('BAD_REQUEST', `The URL parameter "${name}" is not valid JSON. Send a JSON object, percent-encoded.`, {
      cause: error,
    });
  }
}

/** An empty operation name counts as none. */
function readText(name: string, text: string): string | undefined {
  return name === 'operationName' && text === '' ? undefined : text;
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message);
}
