/**
 * Decodes cursors and nodeIds: base64 of a JSON array. Numbers are kept as they are written, so that no digit is lost.
 */
import { ApiError } from '../errors.ts';

/** An element as text for PostgreSQL to cast; null is JSON's null. */
export type IdElement = string | null;

/** The elements of a cursor. Throws BAD_USER_INPUT for anything that is not base64 of an array of scalars. */
export function decodeCursor(text: string): readonly IdElement[] {
  return decodeArray(text, 'cursor').map((element) => elementText(element, 'cursor'));
}

/** The parts of a nodeId. Throws BAD_USER_INPUT for anything that is not base64 of `[schema, table, key…]`. */
export function decodeNodeId(text: string): { readonly schema: string; readonly table: string; readonly elements: readonly IdElement[] } {
  const [schema, table, ...key] = decodeArray(text, 'nodeId');
  if (typeof schema !== 'string' || typeof table !== 'string' || key.length === 0) throw malformed('nodeId');
  return { schema, table, elements: key.map((element) => elementText(element, 'nodeId')) };
}

/** A number with the digits that it was written with. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeArray(text: string, what: string): readonly unknown[] {
  let decoded: unknown;
  try {
    decoded = JSON.parse(utf8.decode(Buffer.from(text, 'base64')), keepNumberText);
  } catch (cause) {
    throw malformed(what, cause);
  }
  if (!Array.isArray(decoded)) throw malformed(what);
  return decoded;
}

/** TypeScript's library does not yet know the third argument (proposal: JSON.parse source text access). */
function keepNumberText(this: unknown, _key: string, value: unknown, context?: { source: string }): unknown {
  return typeof value === 'number' && context ? new NumberText(context.source) : value;
}

function elementText(element: unknown, what: string): IdElement {
  if (element === null) return null;
  if (element instanceof NumberText) return element.text;
  if (typeof element === 'string') return element;
  if (typeof element === 'boolean') return String(element);
  if (Array.isArray(element)) throw new ApiError('BAD_USER_INPUT', 'Unexpected array in input value');
  throw malformed(what);
}

function malformed(what: string, cause?: unknown): ApiError {
  return new ApiError('BAD_USER_INPUT', `This is no ${what}: take it as it came from an earlier answer.`, { cause });
}
