/**
 * The errors that generated statements raise. Plain SQL can only raise errors of built-in functions, so `compile/` casts a text with the
 * name of the error to integer. PostgreSQL quotes the text in its message, in any language.
 */
import type { ErrorCode } from './codes.ts';

/** What each means to a client. */
export const raisable = {
  'update-too-many': { code: 'TOO_MANY_ROWS', message: 'update impacts too many records' },
  'delete-too-many': { code: 'TOO_MANY_ROWS', message: 'delete impacts too many records' },
  'connect-none': { code: 'BAD_USER_INPUT', message: 'there is no such record to connect' },
  'connect-several': { code: 'TOO_MANY_ROWS', message: 'a record cannot be connected to several records' },
  'connect-denied': { code: 'PERMISSION_DENIED', message: 'a policy or a trigger keeps a record from being connected' },
  'values-differ': { code: 'BAD_USER_INPUT', message: 'relations give a field different values' },
  'insert-left-out': { code: 'BAD_USER_INPUT', message: 'a trigger left out a record that is to be inserted' },
} as const satisfies Record<string, { readonly code: ErrorCode; readonly message: string }>;

export type Raisable = keyof typeof raisable;

const marker = 'rowgraph: ';

/** The text to cast. What follows it begins with a colon, and may be the label of a row. */
export function raisedText(name: Raisable): string {
  return `${marker}${name}`;
}

/** The error that PostgreSQL's message quotes, and the label of its row; null for other messages. */
export function readRaised(message: string): { readonly name: Raisable; readonly label: number | null } | null {
  const start = message.indexOf(marker);
  const [, name, label] = (start >= 0 && /^([a-z-]+)(?:: (\d+))?/.exec(message.slice(start + marker.length))) || [];
  return name !== undefined && isRaisable(name) ? { name, label: label === undefined ? null : Number(label) } : null;
}

function isRaisable(name: string): name is Raisable {
  return Object.hasOwn(raisable, name);
}
