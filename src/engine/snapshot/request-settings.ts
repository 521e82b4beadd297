/** The settings that tell SQL about a request, and which of them the database reads. */
import { loadSettingReaders, settingsNamedIn } from '../../catalog/setting-readers.ts';
import type { RequestDatabase, RequestSetting } from '../../database/database.ts';
import { automatic, type RequestPart, requestPart } from '../../settings/check-settings.ts';
import type { Caller, HttpHead } from '../request.ts';

/** The settings that tell SQL about a request besides `request.jwt.claims`: a value for each, so that none is left from another request. */
export class RequestSettings {
  readonly #parts: readonly (readonly [name: string, part: RequestPart])[];
  readonly #allowed: ReadonlySet<string>;
  /** The headers that a response may depend on. */
  readonly headers: readonly string[];

  /** `allowed`: the headers that SQL may read, in lower case. */
  constructor(names: readonly string[], allowed: ReadonlySet<string>) {
    this.#parts = names.flatMap((name) => {
      const part = requestPart(name);
      return part === null ? [] : [[name, part] as const];
    });
    this.#allowed = allowed;
    const kinds = new Set(this.#parts.map(([, { kind }]) => kind));
    this.headers = kinds.has('headers') || kinds.has('header') ? [...allowed] : [];
  }

  /** The value of each setting; '' or, for `request.headers`, '{}' if the request has none. With `inAscii`, JSON is written in ASCII. */
  valuesFor(caller: Caller, head: HttpHead, inAscii: (json: string) => string): readonly RequestSetting[] {
    return this.#parts.map(([name, part]) => [name, this.#valueOf(part, caller, head, inAscii)] as const);
  }

  #valueOf(part: RequestPart, { role, claims = {} }: Caller, head: HttpHead, inAscii: (json: string) => string): string {
    switch (part.kind) {
      case 'claim':
        return storable(part.key.toLowerCase() === 'role' ? role : claimText(claims, part.key));
      case 'method':
        return head.method ?? '';
      case 'path':
        return storable(head.url?.split('?', 1)[0] ?? '');
      case 'header':
        return storable(this.#headersOf(head)[part.key] ?? '');
      case 'headers':
        return inAscii(JSON.stringify(this.#headersOf(head)));
      default:
        return part satisfies never;
    }
  }

  /** The allowed headers, with names in lower case. */
  #headersOf({ headers = {} }: HttpHead): Readonly<Record<string, string>> {
    const allowed: [string, string][] = [];
    for (const [name, value] of Object.entries(headers)) {
      const lower = name.toLowerCase();
      if (value !== undefined && this.#allowed.has(lower)) allowed.push([lower, typeof value === 'string' ? value : value.join(', ')]);
    }
    return Object.fromEntries(allowed);
  }
}

/** The settings in use: those that are listed, and with `auto` those that the database's definitions read. Null if there are none. */
export async function loadRequestSettings(
  database: RequestDatabase,
  listed: readonly string[],
  headers: readonly string[],
): Promise<RequestSettings | null> {
  const names = new Set(listed.filter((name) => name !== automatic));
  if (listed.includes(automatic)) {
    for (const { text } of await loadSettingReaders(database, 'request'))
      for (const name of settingsNamedIn(text)) if (requestPart(name) !== null) names.add(name);
  }
  return names.size === 0 ? null : new RequestSettings([...names], new Set(headers.map((name) => name.toLowerCase())));
}

/** A claim as text: a string as it is, anything else as JSON, and '' for null and what is not there. */
function claimText(claims: Readonly<Record<string, unknown>>, key: string): string {
  const name = Object.hasOwn(claims, key) ? key : Object.keys(claims).find((each) => each.toLowerCase() === key.toLowerCase());
  const json = name === undefined ? undefined : JSON.stringify(claims[name]);
  if (json === undefined || json === 'null') return '';
  return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

/** PostgreSQL stores no character 0. A text with one has no value, so that only what reads it is affected. */
function storable(text: string): string {
  return text.includes('\0') ? '' : text;
}
