/** The session of a caller: the settings with which the transaction of a request begins. */
import { loadSettingReaders, settingsNamedIn } from '../../catalog/setting-readers.ts';
import type { RequestDatabase, RequestSetting, Session } from '../../database/database.ts';
import { automatic, type RequestPart, requestPart } from '../../settings/check-settings.ts';
import type { Caller, HttpHead } from '../request.ts';
import type { CompiledRequest, RoleSchema } from '../snapshot/role-schema.ts';

/** A token is verified once and its claims are used many times. Only frozen claims are cached: others may change, or be shared. */
const claimsTexts = new WeakMap<Caller, string>();

function claimsTextOf(caller: Caller): string {
  const cached = claimsTexts.get(caller);
  if (cached !== undefined) return cached;
  const text = claimsJson(caller);
  if (Object.isFrozen(caller) && Object.isFrozen(caller.claims)) claimsTexts.set(caller, text);
  return text;
}

/** The same JSON in ASCII: a character that PostgreSQL cannot store affects only statements that read that claim. */
function inAscii(json: string): string {
  return json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const asItIs = (json: string): string => json;

/** Claims come from the program, so claims that cannot be written as JSON are a bug in the program. */
export class ClaimsError extends TypeError {
  constructor(cause: unknown) {
    super(`The claims of the caller cannot be written as JSON: ${(cause as Error).message}`, { cause });
    this.name = 'TypeError';
  }
}

function claimsJson({ claims, role }: Caller): string {
  try {
    return JSON.stringify({ ...claims, role });
  } catch (error) {
    throw new ClaimsError(error);
  }
}

/**
 * For most mutations, the session statement checks the schema version before anything else runs, because not everything that a function
 * does can be undone. Every statement also has its guard (`compile/schema-guard.ts`).
 */
export function sessionOf(
  { role, granted }: RoleSchema,
  caller: Caller,
  { checksVersion, measure: { effects } }: Pick<CompiledRequest, 'checksVersion' | 'measure'>,
  applicationName: string | null,
  head: HttpHead = {},
): Session {
  const version = checksVersion ? null : (granted.version?.current ?? null);
  const { searchPath, escapesClaims } = granted;
  const claims = escapesClaims ? inAscii(claimsTextOf(caller)) : claimsTextOf(caller);
  const { readsSession: discardsState, changesSession: resetsConnection } = effects;
  const requestSettings = granted.requestSettings?.valuesFor(caller, head, escapesClaims ? inAscii : asItIs);
  const { defaults } = role;
  return { role: caller.role, claims, searchPath, version, applicationName, defaults, discardsState, resetsConnection, requestSettings };
}

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
