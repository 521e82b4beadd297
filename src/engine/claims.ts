import type { Caller } from './request.ts';

/** A token is verified once and its claims are used many times. Only frozen claims are cached: others may change, or be shared. */
const claimsTexts = new WeakMap<Caller, string>();

export function claimsTextOf(caller: Caller): string {
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

function claimsJson({ claims, role }: Caller): string {
  try {
    return JSON.stringify({ ...claims, role });
  } catch (error) {
    throw new ClaimsError(error);
  }
}
