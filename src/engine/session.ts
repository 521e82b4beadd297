/** The session of a caller: the settings with which the transaction of a request begins. */
import type { Session } from '../database/database.ts';
import type { Caller, HttpHead } from './request.ts';
import type { CompiledRequest, RoleSchema } from './role-schema.ts';

/** A token is verified once and its claims are used many times. Only frozen claims are cached: others may change, or be shared. */
const claimsTexts = new WeakMap<Caller, string>();

function claimsTextOf(caller: Caller): string {
  const known = claimsTexts.get(caller);
  if (known !== undefined) return known;
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
 * For most mutations, the session statement checks the schema version before anything else runs, because not everything that a function does
 * can be undone. Every statement also has its guard (`freshness/schema-guard.ts`).
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
