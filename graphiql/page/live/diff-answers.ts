/**
 * What changed between two answers, as lines for people: rows that came and went, and values that differ. Rows are told apart by their
 * identifier, where the operation selects one.
 */

export interface Difference {
  /** Such as `birdCollection › Wren › name`. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** JSON; undefined for what was added. */
  readonly before?: string;
  /** JSON; undefined for what was removed. */
  readonly after?: string;
}

/** More would not be read. */
const mostDifferences = 200;
/** In characters. */
const longestValue = 200;

export function diffAnswers(before: unknown, after: unknown): readonly Difference[] {
  const found: Difference[] = [];
  compare([], before, after, found);
  return found;
}

function compare(path: readonly string[], before: unknown, after: unknown, found: Difference[]): void {
  if (found.length >= mostDifferences) return;
  if (Array.isArray(before) && Array.isArray(after)) compareMembers(path, nameElements(before), nameElements(after), found);
  else if (isObject(before) && isObject(after))
    compareMembers(path, new Map(Object.entries(before)), new Map(Object.entries(after)), found);
  else if (JSON.stringify(before) !== JSON.stringify(after))
    found.push({ path: path.join(' › '), kind: 'changed', before: show(before), after: show(after) });
}

type Members = ReadonlyMap<string, unknown>;

function compareMembers(path: readonly string[], before: Members, after: Members, found: Difference[]): void {
  for (const [name, value] of before) {
    const inner = isNoise(name) ? path : [...path, name];
    if (after.has(name)) compare(inner, value, after.get(name), found);
    else found.push({ path: inner.join(' › '), kind: 'removed', before: show(value) });
  }
  for (const [name, value] of after) {
    const inner = isNoise(name) ? path : [...path, name];
    if (!before.has(name)) found.push({ path: inner.join(' › '), kind: 'added', after: show(value) });
  }
}

/** What every path would have. */
function isNoise(name: string): boolean {
  return name === 'data' || name === 'edges' || name === 'node';
}

/** The elements of a list by the names or identifiers of their rows, or by their place. */
function nameElements(elements: readonly unknown[]): Members {
  const rows = elements.map((element) => (isObject(element) && isObject(element.node) ? element.node : element));
  const usable = [rows.map(identify), rows.map(identifyWithLabel)].filter(
    (names) => names.every((name) => name !== null) && new Set(names).size === names.length,
  );
  const names = usable.at(-1);
  return new Map(elements.map((element, index) => [names?.[index] ?? `#${index + 1}`, element]));
}

function identify(row: unknown): string | null {
  const id = isObject(row) ? (row.id ?? row.nodeId) : null;
  return id === undefined || id === null ? null : shorten(String(id));
}

/** A name says more to people, but is only used of rows that are told apart by something else. */
function identifyWithLabel(row: unknown): string | null {
  const id = identify(row);
  if (id === null || !isObject(row)) return null;
  const label = row.name ?? row.title ?? row.label;
  if (typeof label !== 'string') return id;
  return row.id === undefined ? label : `${label} (${id})`;
}

function shorten(text: string): string {
  return text.length > 24 ? `${text.slice(0, 24)}…` : text;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}
