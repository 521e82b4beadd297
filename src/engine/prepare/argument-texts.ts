/** The texts of arguments that have a form of their own: searches, patterns, vectors, numbers within bounds. All throw BAD_USER_INPUT. */
import { type Limits, overLimit } from '../../budget/limits.ts';
import { ApiError, quote } from '../../errors/api-error.ts';
import type { ParameterEncoding } from '../../plan/parameter.ts';
import { isStorable } from '../../request/coerce/opaque-id.ts';
import type { ScalarValue } from '../../request/operation.ts';

/**
 * The text of a search. As prefixes, each of its words is quoted, so that PostgreSQL reads none as an operator: `'post':* & 'sql':*`. No
 * words have a text that PostgreSQL cannot store.
 */
export function encodeSearch(text: string, asPrefixes: boolean, limits: Limits): string | null {
  checkSearchLength(text, limits);
  if (!isStorable(text)) return null;
  if (!asPrefixes) return text;
  const words = new Set(text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []);
  return [...words].map((word) => `'${word}':*`).join(' & ');
}

const longestMark = 100;

/** Each word that is found has it, so a long one would make the response many times as long. */
export function checkMark(text: string, argument: string): string | null {
  if (text.length <= longestMark) return isStorable(text) ? text : null;
  throw new ApiError('BAD_USER_INPUT', `The argument "${argument}" has ${text.length} characters; it may have ${longestMark}.`);
}

/** Throws the error of the limit. Comparing trigrams takes time and memory for each character, in each row. */
export function checkSearchLength(text: string, limits: Limits): void {
  if (text.length > limits.searchLength) throw overLimit(limits, 'searchLength', text.length);
}

const mostGaps = 5;

/** Throws QUERY_TOO_COMPLEX: PostgreSQL tries the parts that match any number of labels in each combination of lengths. */
export function checkLabels(patterns: readonly ScalarValue[]): void {
  for (const pattern of patterns) {
    const parts = String(pattern).replaceAll(/\s/g, '').split('.');
    if (parts.filter((part) => part === '*' || /\{\d*,\d*\}$/.test(part)).length <= mostGaps) continue;
    const problem = `A pattern of labels has more than ${mostGaps} parts that match several numbers of labels, such as "*" and "*{1,2}".`;
    throw new ApiError('QUERY_TOO_COMPLEX', `${problem} Join those that follow one another, or use fewer.`);
  }
}

export function checkNumber(text: string, { argument, maximum }: Extract<ParameterEncoding, { kind: 'number' }>): string {
  const number = Number(text);
  if (number >= 0 && number <= maximum) return text;
  throw new ApiError('BAD_USER_INPUT', `The argument "${argument}" must be a number from 0 to ${maximum.toLocaleString('en-US')}.`);
}

/** The text of a bucket's width as PostgreSQL reads it: NaN, infinity and zero are rejected, because rows cannot be divided by them. */
export function checkWidth(text: string): string {
  if (/^\s*\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) && /[1-9]/.test(text.split(/e/i)[0]!)) return text;
  throw new ApiError('BAD_USER_INPUT', 'The width of a bucket must be a number greater than 0.');
}

/** A list of numbers as pgvector reads it: `[1,2]`, `{1:1,2:2}/2` without zeros, or `10`. */
export function vectorText(
  numbers: readonly ScalarValue[],
  { form, dimensions, name }: Extract<ParameterEncoding, { kind: 'vector' }>,
): string {
  if (form === 'shape') return pointText(numbers, name);
  const what = `The vector for ${quote(name)} in "nearest"`;
  if (numbers.length === 0) throw new ApiError('BAD_USER_INPUT', `${what} is empty. Give a number for each dimension.`);
  if (dimensions !== null && numbers.length !== dimensions) {
    const problem = `${what} has ${numbers.length} ${numbers.length === 1 ? 'number' : 'numbers'}, but the column has ${dimensions} dimensions`;
    throw new ApiError('BAD_USER_INPUT', `${problem}. Give a vector of the same model as those of the column.`);
  }
  if (numbers.includes(null)) throw new ApiError('BAD_USER_INPUT', `${what} contains null. Give a number for each dimension.`);
  const texts = numbers.map(String);
  switch (form) {
    case 'dense':
      return `[${texts.join()}]`;
    case 'sparse':
      return `{${texts.flatMap((text, index) => (Number(text) === 0 ? [] : `${index + 1}:${text}`)).join()}}/${texts.length}`;
    case 'bits': {
      if (numbers.some((each) => Number(each) !== 0 && Number(each) !== 1))
        throw new ApiError('BAD_USER_INPUT', `${what} has other numbers than 0 and 1. Give one of them for each bit.`);
      return texts.map(Number).join('');
    }
  }
}

function pointText(numbers: readonly ScalarValue[], name: string): string {
  if (numbers.length === 2 && !numbers.includes(null)) return `(${numbers.join()})`;
  throw new ApiError('BAD_USER_INPUT', `The point for ${quote(name)} in "nearest" needs two numbers: x and y.`);
}
