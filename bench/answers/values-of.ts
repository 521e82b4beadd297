/**
 * The values of an answer in order, without the wrappers that a dialect puts around rows, and with one spelling for values that dialects
 * spell differently, so that two servers' answers can be compared.
 */

/** Keys whose values are specific to a server. */
const ownKeys = new Set(['endCursor']);
/** Columns whose values are arrays or documents. */
const wholeKeys = new Set(['genres', 'details']);

/** The values of an answer, each as `key=value`. */
export function valuesOfAnswer(text: string, changing: readonly string[]): string[] {
  const values: string[] = [];
  collect(JSON.parse(text), '', new Set([...ownKeys, ...changing]), values);
  return values;
}

function collect(value: unknown, key: string, left: ReadonlySet<string>, values: string[]): void {
  if (left.has(key)) return;
  if (wholeKeys.has(key) || value === null || typeof value !== 'object') values.push(`${key}=${spell(value)}`);
  else if (Array.isArray(value)) for (const element of value) collect(element, '', left, values);
  else for (const [name, inner] of Object.entries(value)) collect(inner, name, left, values);
}

function spell(value: unknown): string {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return JSON.stringify(Object.entries(value).toSorted());
  if (typeof value !== 'string') return JSON.stringify(value);
  if (value.startsWith('{')) return spell(JSON.parse(value));
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toISOString();
  return /^-?\d+(\.\d+)?$/.test(value) ? String(Number(value)) : JSON.stringify(value);
}
