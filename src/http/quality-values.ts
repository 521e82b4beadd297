/**
 * Parses the lists of preferences in the headers Accept and Accept-Encoding (RFC 9110, section 12.4.2). In: the text of a header; out: its
 * items, each with its quality.
 */

export interface Preference {
  /** In lower case, without parameters. */
  readonly value: string;
  /** Parameters other than `q`, in lower case. */
  readonly parameters: readonly string[];
  /** From 0 (rejected) to 1. */
  readonly quality: number;
}

/** The items of a header, in order. An item whose quality is not a number counts as rejected. */
export function parsePreferences(header: string): readonly Preference[] {
  return header
    .toLowerCase()
    .split(',')
    .map((item) => item.split(';').map((part) => part.trim()))
    .filter(([value]) => value !== '')
    .map(([value = '', ...parameters]) => ({
      value,
      parameters: parameters.filter((parameter) => !parameter.startsWith('q=')),
      quality: readQuality(parameters.find((parameter) => parameter.startsWith('q='))),
    }));
}

function readQuality(parameter: string | undefined): number {
  if (parameter === undefined) return 1;
  return /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(parameter) ? Number(parameter.slice(2)) : 0;
}
