/** What a batch tells PostgreSQL of its caller: role, claims and settings. */
import type { Session } from '../../database/database.ts';
import type { Caller, HttpHead } from '../request.ts';
import type { CompiledRequest, RoleSchema } from '../snapshot/role-schema.ts';

/** The same JSON in ASCII: a character that PostgreSQL cannot store affects only statements that read that claim. */
function inAscii(json: string): string {
  return json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const asItIs = (json: string): string => json;

/**
 * For most mutations, the session statement checks the schema version before anything else runs, because not everything that a function
 * does can be undone. Every statement also has its guard (`compile/statement.ts`).
 */
export function sessionOf(
  { role, granted }: RoleSchema,
  caller: Caller,
  { checksVersion, measure: { effects, settings } }: Pick<CompiledRequest, 'checksVersion' | 'measure'>,
  applicationName: string | null,
  head: HttpHead = {},
): Session {
  const version = checksVersion ? null : (granted.version?.current ?? null);
  const { searchPath, escapesClaims, hasNodes } = granted;
  const claims = escapesClaims ? inAscii(claimsTextOf(caller)) : claimsTextOf(caller);
  const { readsSession: discardsState, changesSession: resetsConnection } = effects;
  const told = granted.requestSettings?.valuesFor(caller, head, escapesClaims ? inAscii : asItIs);
  const requestSettings = settings.length === 0 ? told : [...(told ?? []), ...settings];
  const { defaults } = role;
  return {
    role: caller.role,
    claims,
    searchPath,
    version,
    applicationName,
    defaults,
    discardsState,
    resetsConnection,
    requestSettings,
    hasNodes,
  };
}

/** A token is verified once and its claims are used many times. Only frozen claims are cached: others may change, or be shared. */
const claimsTexts = new WeakMap<Caller, string>();

function claimsTextOf(caller: Caller): string {
  const cached = claimsTexts.get(caller);
  if (cached !== undefined) return cached;
  const text = claimsJson(caller);
  if (Object.isFrozen(caller) && Object.isFrozen(caller.claims)) claimsTexts.set(caller, text);
  return text;
}

/** Claims come from the program, so claims that cannot be written as JSON are a bug in the program. */
export class ClaimsError extends TypeError {
  constructor(cause: unknown) {
    super(`The claims of the caller cannot be written as JSON: ${(cause as Error).message}`, { cause });
    this.name = 'TypeError';
  }
}

/** Throws `ClaimsError`. */
export function claimsJson({ claims, role }: Caller): string {
  try {
    return JSON.stringify({ ...claims, role });
  } catch (error) {
    throw new ClaimsError(error);
  }
}
