/** Requests to the server that the page came from: their response, or an error that says what to do if there is none. */

/** Rejects if nobody answers: the server has stopped or is restarting, or the network is down. */
export async function reachServer(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error('The server does not respond. Make sure rowgraph is running and reachable, then try again.');
  }
}

/** The JSON of a response. Rejects if it is not JSON: a proxy in front may have answered. */
export async function readJson(response: Response): Promise<{ readonly value: object; readonly text: string }> {
  const text = await response.text();
  try {
    return { value: readText(text), text };
  } catch {
    throw new Error(
      `The response with status ${response.status} is not from rowgraph, but perhaps from a proxy in front of it: ${text.slice(0, 200)}`,
    );
  }
}

/** The value of a JSON text from rowgraph, with all digits of its numbers. */
export function readText(text: string): object {
  return JSON.parse(text, keepDigits) as object;
}

/** More digits than these, and JavaScript may round the number. */
const exactDigits = 15;

const { rawJSON } = JSON as { readonly rawJSON?: (text: string) => unknown };

/** A JSON text as an object that `JSON.stringify` writes so; in browsers without such objects, its value. */
export function rawJson(text: string): unknown {
  return rawJSON === undefined ? JSON.parse(text) : rawJSON(text);
}

/**
 * A long number stays as it is written, as an object that `JSON.stringify` writes so: an Opaque value, such as that of a domain over bigint, may be one.
 * Browsers that do not have such objects yet round it.
 */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || rawJSON === undefined) return value;
  const digits = source.replace(/e.*$/i, '').replaceAll(/\D/g, '');
  return digits.length > exactDigits && String(value) !== source ? rawJSON(source) : value;
}
