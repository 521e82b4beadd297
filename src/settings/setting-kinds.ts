/**
 * The kinds of settings: how the text of a flag, an environment variable or a config file becomes a value, or an error that says what was
 * expected. The settings themselves are in `settings.ts`.
 */
import { type AdditionName, additionNames } from './additions.ts';

/** One setting. Its flag and environment variable derive from its name: `poolSize` is `--pool-size` and `ROWGRAPH_POOL_SIZE`. */
export interface Setting<Value> {
  /** The placeholder of the value in `--help`. */
  readonly placeholder: string;
  readonly description: string;
  readonly default: Value;
  /** The default as `--help` shows it. */
  readonly defaultText: string;
  /** Errors never repeat a secret. */
  readonly secret: boolean;
  /** Parses a text; throws an `Error` that says what was expected. */
  readonly parse: (text: string) => Exclude<Value, undefined>;
}

/** An error that completes a sentence beginning with the name of the setting. */
export function expected(what: string): Error {
  return new Error(what);
}

/** A text that is not empty and passes the check. */
export function text<Default extends string | undefined>(
  placeholder: string,
  description: string,
  fallback: Default,
  check: (value: string) => void = () => undefined,
): Setting<string | Default> {
  const parse = (value: string): string => {
    if (value.trim() === '') throw expected('must not be empty');
    check(value);
    return value;
  };
  return { placeholder, description, default: fallback, defaultText: fallback ?? 'none', secret: false, parse };
}

/** A whole number within bounds. */
export function wholeNumber<Default extends number | undefined>(
  placeholder: string,
  description: string,
  fallback: Default,
  [least, most]: readonly [number, number],
): Setting<number | Default> {
  const parse = (value: string): number => {
    const parsed = Number(value);
    if (!/^\d+$/.test(value) || parsed < least || parsed > most) throw expected(`must be a whole number from ${least} to ${most}`);
    return parsed;
  };
  return { placeholder, description, default: fallback, defaultText: String(fallback ?? 'none'), secret: false, parse };
}

/** A whole number of at least 1, or `off`; if unset, another setting decides. */
export function limit(description: string, decidedBy: string): Setting<number | 'off' | undefined> {
  const parse = (value: string): number | 'off' => {
    if (value === 'off') return value;
    if (!/^[1-9]\d{0,11}$/.test(value)) throw expected('must be a whole number of at least 1, or off');
    return Number(value);
  };
  return { placeholder: 'NUMBER|off', description, default: undefined, defaultText: `by ${decidedBy}`, secret: false, parse };
}

/** One of several words. */
export function choice<const Choice extends string>(
  choices: readonly Choice[],
  description: string,
  fallback: NoInfer<Choice>,
): Setting<Choice> {
  const parse = (value: string): Choice => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw expected(`must be one of ${choices.join(', ')}`);
    return found;
  };
  return { placeholder: choices.join('|'), description, default: fallback, defaultText: fallback, secret: false, parse };
}

/** A switch. */
export function onOrOff(description: string, fallback: boolean): Setting<boolean> {
  const words = choice(['on', 'off'], description, fallback ? 'on' : 'off');
  return { ...words, default: fallback, parse: (value) => words.parse(value) === 'on' };
}

/** A whole number within bounds; `on` stands for a usual one, and `off` is the default. */
export function numberOrSwitch(description: string, usual: number, [least, most]: readonly [number, number]): Setting<number | 'off'> {
  const number = wholeNumber('NUMBER', description, usual, [least, most]);
  const parse = (value: string): number | 'off' => {
    if (value === 'off') return value;
    if (!/^\d/.test(value) && value !== 'on') throw expected(`must be a whole number from ${least} to ${most}, on or off`);
    return value === 'on' ? usual : number.parse(value);
  };
  return { ...number, placeholder: 'NUMBER|on|off', default: 'off', defaultText: 'off', parse };
}

/** Items separated by commas, each of which passes the check; `-` is the empty list. */
export function list(
  placeholder: string,
  description: string,
  fallback: readonly string[],
  check: (item: string) => void = () => undefined,
): Setting<readonly string[]> {
  const parse = (value: string): readonly string[] => {
    const items = value === '-' ? [] : value.split(',').map((item) => item.trim());
    if (items.includes('')) throw expected('must be a comma-separated list without empty items');
    for (const item of items) check(item);
    return items;
  };
  return { placeholder, description, default: fallback, defaultText: fallback.join(',') || 'none', secret: false, parse };
}

/** A list without a default: what holds if it is unset depends on other settings. */
export function unsetList(placeholder: string, description: string, defaultText: string): Setting<readonly string[] | undefined> {
  return { ...list(placeholder, description, []), default: undefined, defaultText };
}

/** Some of the additions to pg_graphql's schema, or all of them by default. */
export function additionList(description: string): Setting<readonly AdditionName[]> {
  const names = list('NAMES', description, []);
  const parse = (value: string): readonly AdditionName[] =>
    names.parse(value).map((item) => {
      const found = additionNames.find((name) => name === item);
      if (found === undefined) throw expected(`must name additions: ${additionNames.join(', ')}`);
      return found;
    });
  return { ...names, default: additionNames, defaultText: 'all', parse };
}

/** A text that errors never repeat. It has no default. */
export function secret(placeholder: string, description: string, check: (value: string) => void): Setting<string | undefined> {
  const parse = (value: string): string => {
    check(value);
    return value;
  };
  return { placeholder, description, default: undefined, defaultText: 'none', secret: true, parse };
}

const byteUnits = { '': 1, kb: 1024, mb: 1024 ** 2 };

/** A size in bytes, from 1 KB to 1 GB unless it says otherwise. */
export function bytes(description: string, fallback: number, fallbackText: string, least = 1024, most = 1024 ** 3): Setting<number> {
  const parse = (value: string): number => {
    const [, digits, unit] = /^(\d{1,9})(kb|mb|)$/i.exec(value) ?? [];
    const size = Number(digits) * byteUnits[(unit ?? '').toLowerCase() as keyof typeof byteUnits];
    if (!(size >= least && size <= most))
      throw expected(`must be a size from ${least / 1024}kb to ${most / 1024 ** 2}mb, such as 512kb or 2mb`);
    return size;
  };
  return { placeholder: 'SIZE', description, default: fallback, defaultText: fallbackText, secret: false, parse };
}

/** A size in bytes, or `off`, which is the default. */
export function bytesOrOff(description: string, least: number): Setting<number | 'off'> {
  const size = bytes(description, 0, 'off', least);
  const parse = (value: string): number | 'off' => (value === 'off' ? value : size.parse(value));
  return { ...size, placeholder: 'SIZE|off', default: 'off', parse };
}

const durationUnits = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** A time in milliseconds. The default and the bounds are written as a user would write them; without a default it may stay unset. */
export function duration<Default extends string | undefined>(
  description: string,
  fallback: Default,
  [least, most]: readonly [string, string],
): Setting<number | Exclude<Default, string>> {
  const parse = (value: string): number => {
    const milliseconds = readDuration(value);
    if (milliseconds >= readDuration(least) && milliseconds <= readDuration(most)) return milliseconds;
    throw expected(`must be a time from ${least} to ${most}, such as 500ms, 30s or 2min`);
  };
  const value = (fallback === undefined ? undefined : readDuration(fallback)) as number | Exclude<Default, string>;
  return { placeholder: 'TIME', description, default: value, defaultText: fallback ?? 'none', secret: false, parse };
}

/** Milliseconds; NaN if the text is not a time. Zero needs no unit. */
function readDuration(value: string): number {
  const [, digits, unit] = /^(\d{1,9})(ms|s|min|h)$/.exec(value === '0' ? '0s' : value) ?? [];
  return Number(digits) * durationUnits[unit as keyof typeof durationUnits];
}
