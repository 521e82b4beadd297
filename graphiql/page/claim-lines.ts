/** Converts claims to lines of a form, and back: a value that is valid JSON is parsed, anything else is a string. */
import type { Claims } from './decode-token.ts';

export interface ClaimLine {
  readonly name: string;
  readonly value: string;
}

/** The claims of a form; lines without a name or a value are left out. */
export function readClaims(lines: readonly ClaimLine[]): Claims {
  const named = lines.map(({ name, value }) => [name.trim(), value.trim()] as const).filter(([name, value]) => name !== '' && value !== '');
  // Not by assignment: a claim may be named `__proto__`.
  return Object.fromEntries(named.map(([name, value]) => [name, readValue(value)]));
}

/** The lines of a form. A string that would be parsed as something else is written as JSON. */
export function writeClaims(claims: Claims): readonly ClaimLine[] {
  return Object.entries(claims).map(([name, value]) => {
    const isPlain = typeof value === 'string' && value !== '' && value === value.trim() && readValue(value) === value;
    return { name, value: isPlain ? value : JSON.stringify(value) };
  });
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
