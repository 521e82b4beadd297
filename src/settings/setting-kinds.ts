/**
 * What a setting is, and the kinds of settings: how the text of a flag, an environment variable or a config file becomes a value, and what a program may pass as
 * the option of the same name. Errors complete a sentence that begins with the name of the setting.
 */
import { additionNames } from './additions.ts';
import {
  aLimit,
  aSwitch,
  aTimeLimit,
  listOf,
  type OptionCheck,
  oneOf,
  secretThat,
  texts,
  textThat,
  wholeNumber as wholeOption,
} from './check-options.ts';
import { checkReplicaUrl } from './database-url.ts';

export interface Kind<Value> {
  /** The placeholder of the value in `--help`. */
  readonly placeholder: string;
  /** Throws an `Error` that says what was expected. */
  readonly parse: (text: string) => Value;
  /** Checks the option of a program. */
  readonly check: OptionCheck;
  /** Errors never repeat a secret. */
  readonly isSecret?: boolean;
  /** Whether its flag may be given several times; the texts are joined by commas. */
  readonly isRepeatable?: boolean;
}

/**
 * Where a setting holds: `serve` and `dev`; `inspect`, the commands that open a graph to look at it; `agent`, the command that serves one
 * agent; a `project`, which inherits it from the server unless it is the project's `own`. `graph`, `endpoint` and `server` have options of
 * the same name.
 */
export type Scope = 'serve' | 'dev' | 'inspect' | 'agent' | 'project' | 'own' | 'graph' | 'endpoint' | 'server';

export interface Setting<Value, In extends Scope = Scope> extends Kind<Exclude<Value, undefined>> {
  readonly default: Value;
  /** The default as `--help` shows it. */
  readonly defaultText: string;
  readonly scopes: readonly In[];
  readonly description: string;
}

/** A row of a table of settings. `fallback` is the default as a user would write it; undefined for none. */
export function row<Value, const In extends Scope, Fallback extends string | undefined>(
  kind: Kind<Value>,
  fallback: Fallback,
  scopes: readonly In[],
  description: string,
  defaultText: string = fallback === undefined || fallback === '-' ? 'none' : fallback,
): Setting<Value | Extract<Fallback, undefined>, In> {
  const value = (fallback === undefined ? undefined : kind.parse(fallback)) as Value | Extract<Fallback, undefined>;
  return { ...kind, default: value, defaultText, scopes, description } as Setting<Value | Extract<Fallback, undefined>, In>;
}

const anything = (): void => undefined;

/** A text that is not empty and passes the check. */
export function text(placeholder: string, check: (value: string) => void = anything): Kind<string> {
  const parse = (value: string): string => {
    if (value.trim() === '') throw new Error('must not be empty');
    check(value);
    return value;
  };
  return { placeholder, parse, check: textThat(check) };
}

/** A text that errors never repeat. */
export function secret(placeholder: string, check: (value: string) => void): Kind<string> {
  const parse = (value: string): string => {
    check(value);
    return value;
  };
  return { placeholder, parse, check: secretThat(check), isSecret: true };
}

/** URLs of PostgreSQL, separated by spaces or by commas; a comma also separates the hosts of one URL. */
export const databaseUrls: Kind<readonly string[]> = {
  placeholder: 'URL',
  parse: (value) => {
    const urls = value.trim().split(/\s+|,(?=postgres(?:ql)?:\/\/)/);
    urls.forEach(checkReplicaUrl);
    return urls;
  },
  check: (value, name) => {
    for (const url of [value].flat()) textThat(checkReplicaUrl)(url, name);
  },
  isSecret: true,
  isRepeatable: true,
};

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number, placeholder = 'NUMBER'): Kind<number> {
  const parse = (value: string): number => {
    const parsed = Number(value);
    if (!/^\d+$/.test(value) || parsed < least || parsed > most) throw new Error(`must be a whole number from ${least} to ${most}`);
    return parsed;
  };
  return { placeholder, parse, check: wholeOption(least, most) };
}

/** The most of something. A program may pass Infinity for no limit. */
export function maximum(most: number): Kind<number> {
  return { ...wholeNumber(1, most), check: aLimit };
}

/** A whole number of at least 1, or `off`. */
export const limit: Kind<number | 'off'> = {
  placeholder: 'NUMBER|off',
  parse: (value) => {
    if (value === 'off') return value;
    if (!/^[1-9]\d{0,11}$/.test(value)) throw new Error('must be a whole number of at least 1, or off');
    return Number(value);
  },
  check: aLimit,
};

/** One of several words. */
export function choice<const Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  const parse = (value: string): Choice => {
    const found = choices.find((candidate) => candidate === value);
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return found;
  };
  return { placeholder: choices.join('|'), parse, check: oneOf(...choices) };
}

const switchWords = choice('on', 'off');

export const onOrOff: Kind<boolean> = { ...switchWords, parse: (value) => switchWords.parse(value) === 'on', check: aSwitch };

/** A maximum; `on` stands for a usual one, `off` for none. */
export function numberOrSwitch(usual: number, most: number): Kind<number | 'off'> {
  const number = maximum(most);
  const parse = (value: string): number | 'off' => {
    if (value === 'off') return value;
    if (!/^\d/.test(value) && value !== 'on') throw new Error(`must be a whole number from 1 to ${most}, on or off`);
    return value === 'on' ? usual : number.parse(value);
  };
  return { ...number, placeholder: 'NUMBER|on|off', parse };
}

/** Items separated by commas, each of which passes the check; `-` is the empty list. */
export function list(placeholder: string, check?: (item: string) => void): Kind<readonly string[]> {
  const parse = (value: string): readonly string[] => {
    const items = value === '-' ? [] : value.split(',').map((item) => item.trim());
    if (items.includes('')) throw new Error('must be a comma-separated list without empty items');
    for (const item of items) check?.(item);
    return items;
  };
  return { placeholder, parse, check: check === undefined ? texts : listOf(check) };
}

const names = list('NAMES');

/** Some of the additions to pg_graphql's schema, or `all`. */
export const additionList: Kind<typeof additionNames> = {
  ...names,
  parse: (value) => {
    if (value === 'all') return additionNames;
    return names.parse(value).map((item) => {
      const found = additionNames.find((name) => name === item);
      if (found === undefined) throw new Error(`must name additions: ${additionNames.join(', ')}`);
      return found;
    });
  },
};

const byteUnits: Readonly<Record<string, number>> = { '': 1, kb: 1024, mb: 1024 ** 2 };

/** A size in bytes. */
export function bytes(least = 1024, most = 1024 ** 3): Kind<number> {
  const parse = (value: string): number => {
    const [, digits, unit = ''] = /^(\d{1,9})(kb|mb|)$/i.exec(value) ?? [];
    const size = Number(digits) * (byteUnits[unit.toLowerCase()] ?? NaN);
    if (!(size >= least && size <= most))
      throw new Error(`must be a size from ${least / 1024}kb to ${most / 1024 ** 2}mb, such as 512kb or 2mb`);
    return size;
  };
  return { placeholder: 'SIZE', parse, check: aLimit };
}

/** A size in bytes, or `off`. */
export function bytesOrOff(least: number): Kind<number | 'off'> {
  const size = bytes(least);
  const parse = (value: string): number | 'off' => (value === 'off' ? value : size.parse(value));
  return { placeholder: 'SIZE|off', parse, check: wholeOption(least) };
}

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000 };

/** A time in milliseconds. The bounds are written as a user would write them. */
export function duration(least: string, most: string): Kind<number> {
  const [shortest, longest] = [readDuration(least), readDuration(most)];
  const parse = (value: string): number => {
    const milliseconds = readDuration(value);
    if (milliseconds >= shortest && milliseconds <= longest) return milliseconds;
    throw new Error(`must be a time from ${least} to ${most}, such as 500ms, 30s or 2min`);
  };
  return { placeholder: 'TIME', parse, check: aTimeLimit };
}

/** Milliseconds; NaN if the text is not a time. Zero needs no unit. */
function readDuration(value: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})(ms|s|min|h)$/.exec(value === '0' ? '0s' : value) ?? [];
  return Number(digits) * (durationUnits[unit] ?? NaN);
}

export const count = maximum(1_000_000);
export const timeLimit = duration('10ms', '24h');
export const cacheEntries = wholeNumber(1, 1_000_000);
