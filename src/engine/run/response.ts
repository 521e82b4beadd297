/**
 * Responses as bytes. Of a request that succeeded: the values as PostgreSQL built them, which are never parsed, under the keys of the
 * request and in its order. Of one that failed: the errors that a client may see.
 */
import type { CompiledRoot } from '../../compile/compile-plan.ts';
import type { ColumnValue } from '../../database/database.ts';
import { ApiError, isStackOverflow } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import { toApiError } from '../../errors/from-postgres.ts';
import type { ResponsePosition } from '../../replicas/position.ts';
import { RequestErrors } from '../../request/validate/parse-document.ts';
import type { RawResponse } from '../request.ts';

/** A member of `data` and its JSON. */
export interface ResponseMember {
  readonly key: string;
  readonly json: ColumnValue;
}

export interface ResponseBody extends Omit<RawResponse, 'errorCode'> {
  /**
   * The bytes as a string with one character per byte (latin1), if the body was built that way: Node then writes it together with the head
   * of the HTTP response.
   */
  readonly latin1?: string | undefined;
}

/** What else a response says of its request, as in `RawResponse`. */
type ResponseTraits = Pick<RawResponse, 'isMutation' | 'isReplayed' | 'isLive' | 'dependsOn' | 'position' | 'endCursor'>;

/** A response whose values are not known yet: the texts around them, and what replaces a missing value. */
export interface ResponseTemplate {
  readonly texts: readonly string[];
  readonly empties: readonly string[];
}

/** A response without errors: a string with one character per byte, or bytes in pieces, so that large values are not copied. */
export class SuccessResponse implements RawResponse, ResponseBody {
  readonly errorCode = null;
  readonly length: number;
  readonly isMutation: boolean;
  readonly isReplayed: boolean;
  readonly isLive: boolean;
  readonly dependsOn: readonly string[] | undefined;
  readonly position: ResponsePosition | undefined;
  readonly endCursor: string | null | undefined;
  readonly #content: string | readonly Uint8Array[];

  constructor(
    content: string | readonly Uint8Array[],
    { isMutation = false, isReplayed = false, isLive = false, dependsOn, position, endCursor }: ResponseTraits,
  ) {
    this.#content = content;
    this.length = typeof content === 'string' ? content.length : content.reduce((length, chunk) => length + chunk.length, 0);
    this.isMutation = isMutation;
    this.isReplayed = isReplayed;
    this.isLive = isLive;
    this.dependsOn = dependsOn;
    this.endCursor = endCursor;
    this.position = position;
  }

  /** The same response to a request after which the log was there. */
  at(position: ResponsePosition | undefined): SuccessResponse {
    return new SuccessResponse(this.#content, { ...this, position });
  }

  get chunks(): readonly Uint8Array[] {
    return typeof this.#content === 'string' ? [Buffer.from(this.#content, 'latin1')] : this.#content;
  }

  get latin1(): string | undefined {
    return typeof this.#content === 'string' ? this.#content : undefined;
  }
}

/** The JSON of `extensions` with a position, in ASCII; null if there is nothing in it. */
export function withPosition(extensions: string | null, position: ResponsePosition | undefined): string | null {
  if (position === undefined) return extensions;
  const member = `"position":"${position.text}"`;
  return extensions === null ? `{${member}}` : `${extensions.slice(0, -1)},${member}}`;
}

const start = '{"data":{';

/** `extensions` is the JSON of the `extensions` member, in ASCII; null if there is none. */
function endOf(extensions: string | null): string {
  return extensions === null ? '}}' : `},"extensions":${extensions}}`;
}

/** Below this size a copy costs less than writing another piece. */
const joinedLength = 16 * 1024;

/** The response as UTF-8. `extensions` is the JSON of its `extensions` member, in ASCII; null if there is none. */
export function assembleResponse(
  roots: readonly ResponseMember[],
  extensions: string | null = null,
  traits: ResponseTraits = {},
): SuccessResponse {
  const end = endOf(extensions);
  return new SuccessResponse(assembleString(roots, end) ?? assembleBytes(roots, end), traits);
}

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

/** The response to an earlier request with the same idempotency key. */
export function replayedResponse(value: Exclude<ColumnValue, null>): SuccessResponse {
  const content = typeof value === 'string' ? [Buffer.from(value)] : 'latin1' in value ? value.latin1 : value;
  return new SuccessResponse(content, { isMutation: true, isReplayed: true });
}

/** The response as a string of bytes, if its values are such strings and it is short. Keys are GraphQL names, so they are ASCII. */
function assembleString(roots: readonly ResponseMember[], end: string): string | null {
  let latin1 = start;
  for (let index = 0; index < roots.length; index++) {
    const { key, json } = roots[index]!;
    if (json !== null && (typeof json === 'string' || !('latin1' in json))) return null;
    latin1 += `${index === 0 ? '' : ','}"${key}":${json === null ? 'null' : json.latin1}`;
    if (latin1.length > joinedLength) return null;
  }
  return latin1 + end;
}

function assembleBytes(roots: readonly ResponseMember[], end: string): readonly Uint8Array[] {
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
  const chunks = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
  const length = chunks.reduce((total, chunk) => total + chunk.length, 0);
  return length < joinedLength ? [Buffer.concat(chunks, length)] : chunks;
}

/**
 * The errors of a failed request in the response format, with `data: null` if it failed during execution
 * (https://spec.graphql.org/October2021/#sec-Data).
 */
export function failureResponse(error: unknown): RawResponse {
  const errors = error instanceof RequestErrors ? error.errors : [toClientError(error)];
  const { code } = errors[0]!;
  const hasRun = errorCodes[code].status === 200;
  const bytes = Buffer.from(JSON.stringify(hasRun ? { data: null, errors } : { errors }));
  return { chunks: [bytes], length: bytes.length, errorCode: code };
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
