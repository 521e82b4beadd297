/** A tool, its arguments, and what it returns. */
import type { CallToolResult, JSONObject, Tool as ToolDefinition } from '@modelcontextprotocol/server';
import type { RawResponse } from '../engine/request.ts';
import { ApiError, type ErrorObject, isJsonObject, quote } from '../errors/api-error.ts';

export type JsonSchema = JSONObject;

export interface Tool {
  readonly definition: ToolDefinition;
  /** Rejects with `ApiError` for what is wrong with the arguments. */
  readonly call: (values: Arguments, signal: AbortSignal) => Promise<ToolResult>;
}

export type ToolResult = CallToolResult;
export type Arguments = Readonly<Record<string, unknown>>;

interface ToolOptions {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The JSON schemas of the arguments, by name. */
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly effect: 'reads' | 'writes';
  readonly call: Tool['call'];
}

/** A tool that refuses arguments that it does not know: one that is spelled wrong must not be without effect. */
export function makeTool({ name, title, description, properties, required = [], definitions, effect, call }: ToolOptions): Tool {
  const inputSchema = {
    type: 'object' as const,
    properties,
    ...(required.length > 0 && { required: [...required] }),
    additionalProperties: false,
    ...(definitions !== undefined && { $defs: definitions }),
  };
  const isRead = effect === 'reads';
  // The database is all that a tool touches, so its world is closed.
  const annotations = { title, readOnlyHint: isRead, destructiveHint: !isRead, openWorldHint: false };
  return {
    definition: { name, title, description, inputSchema, annotations },
    call: async (values, signal) => {
      const names = Object.keys(properties);
      const unknown = Object.keys(values).find((each) => !names.includes(each));
      const missing = required.find((each) => values[each] === undefined);
      if (unknown !== undefined) throw wrongArgument(`has no argument ${quote(unknown)}. ${nameAll(names)}`, name);
      if (missing !== undefined) throw wrongArgument(`needs the argument "${missing}"`, name);
      return call(values, signal);
    },
  };
}

function nameAll(names: readonly string[]): string {
  return names.length === 0 ? 'Send none' : `There are ${names.join(', ')}`;
}

function wrongArgument(problem: string, tool: string): ApiError {
  return new ApiError('BAD_USER_INPUT', `The tool ${tool} ${problem}.`);
}

export function textArgument(values: Arguments, name: string): string | undefined {
  const value = values[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new ApiError('BAD_USER_INPUT', `The argument "${name}" must be a string.`);
}

/** An object; some models send it as the text of its JSON. */
export function objectArgument(values: Arguments, name: string): Readonly<Record<string, unknown>> | undefined {
  const value = values[name] ?? undefined;
  const read = typeof value === 'string' ? parseOrNull(value) : value;
  if (read === undefined || isJsonObject(read)) return read;
  throw new ApiError('BAD_USER_INPUT', `The argument "${name}" must be an object, such as {"id": 1}.`);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function textResult(text: string, structuredContent: Record<string, unknown>): ToolResult {
  return { content: [{ type: 'text', text }], structuredContent };
}

/** The error as text for the model to act upon, and as data. Codes are those of docs/errors.md. */
export function errorResult(errors: readonly ErrorObject[]): ToolResult {
  return { ...textResult(errors.map(describeError).join('\n'), { errors: [...errors] }), isError: true };
}

function describeError({ message, path, extensions }: ErrorObject): string {
  const place = path === undefined || path.length === 0 ? '' : ` (at ${path.join('.')})`;
  const { code, hint, detail } = extensions;
  const more = [detail, hint].filter((each) => typeof each === 'string');
  return [`${code}: ${message}${place}`, ...more].join(' ');
}

interface ReturnedResponse {
  readonly resultSize: number;
  readonly tool: string;
}

/** The GraphQL response as the result of a tool. One that is too long is replaced by a note. */
export function responseResult({ chunks, length, isMutation }: RawResponse, { resultSize, tool }: ReturnedResponse): ToolResult {
  if (length > resultSize && isMutation === true)
    return textResult(
      `The mutation ran, and its changes are stored: do not send it again. Its response has ${length} bytes and is left out, as a result has at most ${resultSize}. Query for what you need of it.`,
      { note: 'response left out', bytes: length, limit: resultSize },
    );
  if (length > resultSize)
    return errorResult([
      new ApiError(
        'RESPONSE_TOO_LARGE',
        `The result of ${tool} has ${length} bytes, and at most ${resultSize} are returned. Ask for less: fewer rows (first), fewer fields, a narrower filter, or an aggregate; read on with after.`,
      ).toJSON(),
    ]);
  const text = Buffer.concat(chunks).toString();
  const response = JSON.parse(text) as { readonly errors?: readonly ErrorObject[] } & Record<string, unknown>;
  if (response.errors === undefined) return textResult(text, response);
  return { ...errorResult(response.errors), structuredContent: response };
}
