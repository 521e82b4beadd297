/**
 * JSON with comments, as the editors of variables and headers hold it: stands for GraphiQL's own module, which brings two parsers of JavaScript along to format
 * it. In: text; out: text, or a value.
 */
import { applyEdits, format, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

/** The text, indented. */
export async function formatJSONC(text: string): Promise<string> {
  return applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2, insertFinalNewline: true }));
}

/** Its value; undefined where there is none. Throws where it is not JSON, and says what is wrong in which line. */
export function parseJSONC(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  if (errors.length > 0) throw new SyntaxError(errors.map((error) => describe(error, text)).join('; '));
  return value;
}

/** The object that the text is. Throws the rest of a sentence: GraphiQL puts ahead whether variables or headers are meant. */
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
