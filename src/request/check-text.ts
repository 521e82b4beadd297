/**
 * Checks a document's text against the limits before it is parsed: its bytes, its tokens, and the nesting depth of its brackets, which determines the
 * size of the parser's stack.
 */
import { GraphQLError, Lexer, Source, TokenKind } from 'graphql';
import { checkLimit, type Limits, overLimit } from '../budget/limits.ts';

/** What was counted of a text. */
export interface TextCounts {
  readonly documentBytes: number;
  readonly tokens: number;
}

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Counts up to the limits, and throws their errors. Syntax errors are left to the parser. */
export function checkText(text: string, limits: Limits): TextCounts {
  const documentBytes = countBytes(text, limits);
  const mostBrackets = bracketsOf(limits.depth);
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let brackets = 0;
  try {
    for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; { kind } = lexer.advance()) {
      tokens += 1;
      checkTokens(tokens, limits);
      if (opening.has(kind)) brackets += 1;
      else if (closing.has(kind)) brackets -= 1;
      if (brackets > mostBrackets) throw overLimit(limits, 'depth');
    }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
  return { documentBytes, tokens };
}

/** Holds a text against other limits that was within some before. */
export function recheckText(text: string, { tokens }: TextCounts, limits: Limits): void {
  countBytes(text, limits);
  checkTokens(tokens, limits);
}

function checkTokens(tokens: number, limits: Limits): void {
  if (tokens > limits.tokens) throw overLimit(limits, 'tokens');
}

/** A character is one to three bytes: most texts need not be counted. */
function countBytes(text: string, limits: Limits): number {
  if (text.length > limits.documentBytes) throw overLimit(limits, 'documentBytes');
  const bytes = Buffer.byteLength(text);
  checkLimit(limits, 'documentBytes', bytes);
  return bytes;
}

/** Brackets that a document within the depth has no use for: a field takes one, each level of its value two, an inline fragment one. */
function bracketsOf(depth: number): number {
  return 4 * depth + 16;
}
