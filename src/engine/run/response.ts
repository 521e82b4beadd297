import type { CompiledRoot } from '../../compile/compile-plan.ts';
import type { ColumnValue } from '../../database/database.ts';
import { ApiError, isStackOverflow } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import { toApiError } from '../../errors/from-postgres.ts';
import { RequestErrors } from '../../request/validate/parse-document.ts';
import type { RawResponse } from '../request.ts';

/**
 * Assembles a response: the values as PostgreSQL built them, under the keys of the request and in its order. The values are never parsed.
 */

/** A member of `data` and its JSON. */
export interface ResponseMember {
  readonly key: string;
  readonly json: ColumnValue;
}

/** Bytes in pieces, so that large values are not copied into one buffer. */
export interface ResponseBody {
  readonly chunks: readonly Uint8Array[];
  /** Total length of all chunks, in bytes. */
  readonly length: number;
  /**
   * The same as a string with one character per byte (latin1), if the body was built that way: Node then writes it together with the head
   * of the HTTP response.
   */
  readonly latin1?: string | undefined;
  /** Whether it reports a mutation, which withholding the response would not undo. */
  isMutation?: boolean;
  /** Whether it is the response to an earlier request with the same idempotency key. */
  isReplayed?: boolean;
  /** The headers of the HTTP request that it may depend on, in lower case. */
  dependsOn?: readonly string[] | undefined;
}

/** A response whose values are not known yet: the texts around them, and what replaces a missing value. */
export interface ResponseTemplate {
  readonly texts: readonly string[];
  readonly empties: readonly string[];
}

const start = '{"data":{';

/** `extensions` is the JSON of the `extensions` member, in ASCII; null if there is none. */
function endOf(extensions: string | null): string {
  return extensions === null ? '}}' : `},"extensions":${extensions}}`;
}

/** Below this size a copy costs less than writing another piece. */
const joinedLength = 16 * 1024;

/** The response as UTF-8. `extensions` is the JSON of its `extensions` member, in ASCII; null if there is none. */
export function assembleResponse(roots: readonly ResponseMember[], extensions: string | null = null): ResponseBody {
  const end = endOf(extensions);
  return assembleString(roots, end) ?? assembleBytes(roots, end);
}

/** The template of the response to a mutation. */
export function templateOf(roots: readonly CompiledRoot[], extensions: string | null): ResponseTemplate {
  const texts: string[] = [];
  const empties: string[] = [];
  let text = start;
  roots.forEach((root, index) => {
    text += index === 0 ? `"${root.key}":` : `,"${root.key}":`;
    if (root.kind === 'json') text += root.json;
    else if (root.kind === 'column') {
      texts.push(text);
      empties.push(root.empty);
      text = '';
    } else throw new Error('A mutation has no introspection.');
  });
  texts.push(text + endOf(extensions));
  return { texts, empties };
}

/** A response that is a single value. */
export function valueBody(value: Exclude<ColumnValue, null>): ResponseBody {
  if (typeof value === 'string') return textBody(value);
  if ('latin1' in value) return new StringBody(value.latin1);
  return { chunks: value, length: value.reduce((length, chunk) => length + chunk.length, 0) };
}

/** A body built as a string; its bytes are made on demand. */
class StringBody implements ResponseBody {
  readonly latin1: string;

  constructor(latin1: string) {
    this.latin1 = latin1;
  }

  get length(): number {
    return this.latin1.length;
  }

  get chunks(): readonly Buffer[] {
    return [Buffer.from(this.latin1, 'latin1')];
  }
}

/** The response as a string of bytes, if its values are such strings and it is short. Keys are GraphQL names, so they are ASCII. */
function assembleString(roots: readonly ResponseMember[], end: string): ResponseBody | null {
  let latin1 = start;
  for (let index = 0; index < roots.length; index++) {
    const { key, json } = roots[index]!;
    if (json !== null && (typeof json === 'string' || !('latin1' in json))) return null;
    latin1 += `${index === 0 ? '' : ','}"${key}":${json === null ? 'null' : json.latin1}`;
    if (latin1.length > joinedLength) return null;
  }
  return new StringBody(latin1 + end);
}

function assembleBytes(roots: readonly ResponseMember[], end: string): ResponseBody {
  const pieces: (string | Buffer)[] = [];
  let text = start;
  roots.forEach(({ key, json }, index) => {
    text += index === 0 ? `"${key}":` : `,"${key}":`;
    if (json === null || typeof json === 'string') text += json ?? 'null';
    else {
      pieces.push(text, ...('latin1' in json ? [Buffer.from(json.latin1, 'latin1')] : json));
      text = '';
    }
  });
  pieces.push(text + end);
  return toBody(pieces);
}

/** A text as a body in one piece. */
export function textBody(text: string): ResponseBody {
  const bytes = Buffer.from(text);
  return { chunks: [bytes], length: bytes.length };
}

function toBody(pieces: readonly (string | Buffer)[]): ResponseBody {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  if (length >= joinedLength) return { chunks: pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)), length };
  const joined = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') offset += joined.write(piece, offset);
    else {
      joined.set(piece, offset);
      offset += piece.length;
    }
  }
  return { chunks: [joined], length };
}

/**
 * The response to a request as bytes: of one that succeeded, or of one that failed, whose errors are converted to those that a client may
 * see.
 */

/** A response without errors. */
export class SuccessResponse implements RawResponse, ResponseBody {
  readonly errorCode = null;
  readonly #body: ResponseBody;

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  get chunks(): readonly Uint8Array[] {
    return this.#body.chunks;
  }

  get length(): number {
    return this.#body.length;
  }

  get latin1(): string | undefined {
    return this.#body.latin1;
  }

  get isMutation(): boolean {
    return this.#body.isMutation === true;
  }

  get isReplayed(): boolean {
    return this.#body.isReplayed === true;
  }

  get dependsOn(): readonly string[] | undefined {
    return this.#body.dependsOn;
  }
}

/**
 * The errors of a failed request in the response format, with `data: null` if it failed during execution
 * (https://spec.graphql.org/October2021/#sec-Data).
 */
export function failureResponse(error: unknown): RawResponse {
  const errors = error instanceof RequestErrors ? error.errors : [toClientError(error)];
  const { code } = errors[0]!;
  const hasRun = errorCodes[code].status === 200;
  return { ...textBody(JSON.stringify(hasRun ? { data: null, errors } : { errors })), errorCode: code };
}

const internalMessage = 'Internal error: this is a bug in rowgraph. Please report it.';

function toClientError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // Unless a limit is set, values that are nested tens of thousands of levels deep overflow the stack.
  if (isStackOverflow(error))
    return new ApiError('QUERY_TOO_COMPLEX', 'The request is nested too deeply. Nest fewer levels.', { cause: error });
  // The catalog is read outside of batches, so such an error has not been translated.
  return error instanceof DatabaseError ? toApiError(error) : new ApiError('INTERNAL_ERROR', internalMessage);
}
