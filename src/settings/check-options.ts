/**
 * Checks the options that a program passes, with or without TypeScript: a wrong one would fail only later, somewhere else, or have no
 * effect.
 */
import { describeValue, isJsonObject } from '../errors/api-error.ts';

/** Throws a `TypeError` if the value of the option `name` is wrong. */
export type OptionCheck = (value: unknown, name: string) => void;

/** A check for each option, so that none is forgotten. */
export type OptionChecks<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

/** Throws a `TypeError` unless each option is one that exists and has a value that it may have; undefined is the default. */
export function checkOptions<Options>(options: unknown, checks: OptionChecks<Options>, prefix = ''): asserts options is Options {
  if (!isJsonObject(options)) throw new TypeError('The options are missing. Pass them as an object.');
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(checks, name));
  if (unknown !== undefined)
    throw new TypeError(`There is no option "${prefix}${unknown}". The options are ${Object.keys(checks).join(', ')}.`);
  for (const [name, check] of Object.entries<OptionCheck>(checks)) if (options[name] !== undefined) check(options[name], prefix + name);
}

/** `expected` ends the sentence that begins "The option … must". */
export function must(expected: string, accepts: (value: unknown) => boolean): OptionCheck {
  return (value, name) => {
    if (!accepts(value)) throw refusal(name, `must ${expected}`, value);
  };
}

/** An option that is an object of options, of which some are required. */
export function optionsOf<Options>(checks: OptionChecks<Options>, ...required: readonly (keyof Options & string)[]): OptionCheck {
  return (value, name) => {
    anObject(value, name);
    checkOptions(value, checks, `${name}.`);
    const missing = required.find((each) => value[each] === undefined);
    if (missing !== undefined) throw new TypeError(`The option "${name}.${missing}" is missing.`);
  };
}

/** A text that also passes `check`, which throws an `Error` whose message continues after "The option …". */
export function textThat(check: (text: string) => void): OptionCheck {
  return (value, name) => {
    aText(value, name);
    try {
      check(value as string);
    } catch (error) {
      throw refusal(name, (error as Error).message, value);
    }
  };
}

/** A list of texts that each pass a check. */
export function listOf(check: (item: string) => void): OptionCheck {
  return (value, name) => {
    texts(value, name);
    for (const item of value as readonly string[]) textThat(check)(item, name);
  };
}

export function oneOf(...choices: readonly string[]): OptionCheck {
  const named = choices.map((choice) => `"${choice}"`).join(' or ');
  return must(`be ${named}`, (value) => choices.includes(value as string));
}

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): OptionCheck {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return must(`be a whole number ${range}`, (value) => isWhole(value) && value >= least && value <= most);
}

/** A number of milliseconds within bounds. */
export function milliseconds(least: number, most: number): OptionCheck {
  const accepts = (value: unknown) => typeof value === 'number' && value >= least && value <= most;
  return must(`be a number of milliseconds from ${least} to ${most}`, accepts);
}

export const aTimeLimit = must(
  'be a number of milliseconds above 0, or Infinity for no limit',
  (value) => typeof value === 'number' && value > 0,
);
export const aLimit = must(
  'be a whole number of at least 1, or Infinity for no limit',
  (value) => value === Infinity || (isWhole(value) && value >= 1),
);
export const aSwitch = must('be true or false', (value) => typeof value === 'boolean');
export const aFunction = must('be a function', (value) => typeof value === 'function');
export const anObject = must('be an object', isJsonObject);
export const aList = must('be a list', Array.isArray);
export const aText = must('be a string that is not empty', isText);
export const texts = must('be a list of strings', (value) => Array.isArray(value) && value.every(isText));
export const someTexts = must(
  'be a list of at least one string',
  (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
);

/** A text that is never repeated. */
export const aSecret: OptionCheck = (value, name) => {
  if (!isText(value)) throw new TypeError(`The option "${name}" must be a string that is not empty.`);
};

/** A secret that passes a check, whose errors do not repeat it either. */
export function secretThat(check: (text: string) => void): OptionCheck {
  return (value, name) => {
    aSecret(value, name);
    try {
      check(value as string);
    } catch (error) {
      throw new TypeError(`The option "${name}" ${(error as Error).message}.`);
    }
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function refusal(name: string, what: string, value: unknown): TypeError {
  return new TypeError(`The option "${name}" ${what}; it is ${describe(value)}.`);
}

function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return Array.isArray(value) && value.length === 0 ? 'an empty list' : describeValue(value);
}
