/**
 * JSON with comments, for the editors of variables and headers: replaces GraphiQL's own module, which would bring two JavaScript parsers to
 * format it. In: text; out: text, or a value.
 */
import { applyEdits, format, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** The text, indented. */
export async function formatJSONC(text: string): Promise<string> {
  return applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2, insertFinalNewline: true }));
}

/** Its value; undefined for an empty text. Throws an error with the line if it is not JSON. */
export function parseJSONC(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  if (errors.length > 0) throw new SyntaxError(errors.map((error) => describe(error, text)).join('; '));
  return value;
}

/** The object in the text. Throws the end of a sentence: GraphiQL begins it with "Variables" or "Headers". */
export function tryParseJSONC(text = ''): object | undefined {
  const value = parseOrThrow(text);
  if (!value) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw new TypeError('are not a JSON object.');
  return value;
}

function parseOrThrow(text: string): unknown {
  try {
    return parseJSONC(text);
  } catch (error) {
    throw new Error(`are invalid JSON: ${(error as Error).message}.`);
  }
}

/** `ColonExpected` becomes "colon expected at line 1, column 5". */
function describe({ error, offset }: ParseError, text: string): string {
  const lines = text.slice(0, offset).split('\n');
  const name = printParseErrorCode(error).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${name.toLowerCase()} at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
