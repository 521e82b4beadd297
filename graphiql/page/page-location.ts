/** What the URL of the page says beside a shared query: the view, the caller, and the table with its filters, order and page. */

import type { DiagramChoice } from './choose-tables.ts';
import { isCaller, type PageCaller, type RoleCaller } from './page-caller.ts';
import type { RowsChoice } from './rows/rows-query.ts';

/** A table of the grid, and what is chosen of it; the table alone if another view leads there. */
export interface ShownRows {
  readonly table: string;
  readonly choice?: RowsChoice;
  /** The cursors of the pages before. */
  readonly before?: readonly (string | null)[];
}

/** What the view of policies shows: a table, by its name or that of its row type, or '' for the operation in the editor; and two callers. */
export interface ShownPolicies {
  readonly table?: string;
  readonly tab?: 'words' | 'callers';
  readonly one?: RoleCaller;
  readonly other?: RoleCaller;
}

/** The views of the page, in the order of the rail; `views.tsx` has what they show. */
export const viewNames = ['Query', 'Rows', 'Diagram', 'Policies', 'Doctor'] as const;
export type ViewName = (typeof viewNames)[number];

interface Location {
  readonly view: ViewName;
  /** Only a role and its claims: keys and tokens do not belong into URLs. */
  readonly caller: PageCaller;
  readonly rows: ShownRows;
  readonly policies: ShownPolicies;
  readonly diagram: DiagramChoice;
}

/** A part of the URL; null if it is not there, or not as it should be. */
export function readLocation<Part extends keyof Location>(part: Part): Location[Part] | null {
  const text = new URLSearchParams(location.hash.slice(1)).get(part);
  try {
    const value: unknown = text === null ? null : part === 'view' ? text : JSON.parse(text);
    return isPart[part](value) ? (value as Location[Part]) : null;
  } catch {
    return null;
  }
}

const isPart: Readonly<Record<keyof Location, (value: unknown) => boolean>> = {
  view: (value) => viewNames.some((name) => name === value),
  caller: (value) => isCaller(value) && value.kind === 'role',
  rows: (value) => isObject(value) && typeof value.table === 'string' && isList(value.before) && isChoice(value.choice),
  policies: isPolicies,
  diagram: (value) =>
    isObject(value) &&
    [value.table, value.only].every((text) => text === undefined || typeof text === 'string') &&
    (value.distance === undefined || [1, 2, 3].includes(value.distance as number)),
};

function isPolicies(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { table, tab, one, other } = value;
  const isRole = (each: unknown): boolean => each === undefined || (isCaller(each) && each.kind === 'role');
  return (
    ['undefined', 'string'].includes(typeof table) &&
    [undefined, 'words', 'callers'].includes(tab as string) &&
    isRole(one) &&
    isRole(other)
  );
}

function isChoice(value: unknown): boolean {
  return (
    value === undefined || (isObject(value) && Array.isArray(value.filters) && typeof value.pageSize === 'number' && isList(value.hidden))
  );
}

function isList(value: unknown): boolean {
  return value === undefined || Array.isArray(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Writes a part of the URL, without a new entry in the history of the browser. Null removes it. */
export function writeLocation<Part extends keyof Location>(part: Part, value: Location[Part] | null): void {
  history.replaceState(null, '', hrefOfLocation({ [part]: value }));
}

/** The URL of the page with other parts; null removes one. */
export function hrefOfLocation(changed: { readonly [Part in keyof Location]?: Location[Part] | null }): string {
  const parts = new URLSearchParams(location.hash.slice(1));
  for (const [part, value] of Object.entries(changed)) {
    if (value === null) parts.delete(part);
    else parts.set(part, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return `${location.pathname}${location.search}#${parts}`;
}
