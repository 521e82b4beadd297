/**
 * Checks a document's text against limits before it is parsed: its bytes, its tokens, and the nesting of its brackets, which determines how
 * deep the parser recurses.
 */
import { GraphQLError, Lexer, Source, TokenKind } from 'graphql';
import { checkLimit, type Limits, overLimit } from '../budget/limits.ts';

export interface TextCounts {
  readonly documentBytes: number;
  readonly tokens: number;
}

const opening: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Counts bytes and tokens, and throws if a limit is exceeded. Leaves syntax errors to the parser. */
export function checkText(text: string, limits: Limits): TextCounts {
  const documentBytes = countBytes(text, limits);
  const maxBrackets = bracketsOf(limits.depth);
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let brackets = 0;
  try {
    for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; { kind } = lexer.advance()) {
      tokens += 1;
      checkTokens(tokens, limits);
      if (opening.has(kind)) brackets += 1;
      else if (closing.has(kind)) brackets -= 1;
      if (brackets > maxBrackets) throw overLimit(limits, 'depth');
    }
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
  return { documentBytes, tokens };
}

/** Checks a text that was counted before against other limits. */
export function recheckText(text: string, { tokens }: TextCounts, limits: Limits): void {
  countBytes(text, limits);
  checkTokens(tokens, limits);
}

function checkTokens(tokens: number, limits: Limits): void {
  if (tokens > limits.tokens) throw overLimit(limits, 'tokens');
}

/** A UTF-16 code unit takes one to three bytes in UTF-8, so a text with too many of them is rejected without encoding it. */
function countBytes(text: string, limits: Limits): number {
  if (text.length > limits.documentBytes) throw overLimit(limits, 'documentBytes');
  const bytes = Buffer.byteLength(text);
  checkLimit(limits, 'documentBytes', bytes);
  return bytes;
}

/**
 * The most nested brackets that a document within the depth limit can have: a field takes one, each level of its value two, an inline
 * fragment one.
 */
function bracketsOf(depth: number): number {
  return 4 * depth + 16;
}
