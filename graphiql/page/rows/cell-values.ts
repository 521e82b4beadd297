/** The values of cells as text: what a cell shows, and what a text that people type means for a column. */
import { rawJson, readText } from '../reach-server.ts';
import type { ApiColumn } from '../read-tables.ts';

/** The value, in the form in which responses have it; or what is wrong with the text. */
export type ReadCell = { readonly value: unknown; readonly problem: null } | { readonly value: undefined; readonly problem: string };

const wrong = (problem: string): ReadCell => ({ value: undefined, problem });
const right = (value: unknown): ReadCell => ({ value, problem: null });

const int = { least: -(2 ** 31), most: 2 ** 31 - 1 };

/** Types whose values are checked here; PostgreSQL decides about all others. */
const readers: Readonly<Record<string, (text: string) => ReadCell>> = {
  Int: (text) => {
    if (!/^[-+]?\d+$/.test(text)) return wrong('Enter a whole number.');
    const value = Number(text);
    return value < int.least || value > int.most ? wrong(`Enter a whole number from ${int.least} to ${int.most}.`) : right(value);
  },
  Float: (text) => (text !== '' && Number.isFinite(Number(text)) ? right(Number(text)) : wrong('Enter a number, such as 1.5.')),
  // Longer than JavaScript's numbers: they stay text.
  BigInt: (text) => (/^[-+]?\d+$/.test(text) ? right(text) : wrong('Enter a whole number.')),
  BigFloat: (text) =>
    /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$|^NaN$|^-?Infinity$/i.test(text) ? right(text) : wrong('Enter a number, such as 12.50.'),
  Boolean: (text) => (/^(true|false)$/i.test(text) ? right(text.toLowerCase() === 'true') : wrong('Enter true or false.')),
  UUID: (text) => (/^\{?([0-9a-f]-?){32}\}?$/i.test(text) ? right(text) : wrong('Enter a UUID: 32 hexadecimal digits.')),
  Date: (text) => (text === '' ? wrong('Enter a date, such as 2026-01-31.') : right(text)),
  Time: (text) => (text === '' ? wrong('Enter a time, such as 12:30:00.') : right(text)),
  Datetime: (text) => (text === '' ? wrong('Enter a point in time, such as 2026-01-31T12:30:00Z.') : right(text)),
  JSON: (text) => {
    const problem = problemOfJson(text);
    return problem === null ? right(text) : wrong(problem);
  },
};

/** The value that a text means for a column. A text is never null: an empty one is an empty string, or refused. */
export function readCell(text: string, column: ApiColumn): ReadCell {
  if (column.isList) return readList(text, column);
  if (column.labels !== null) {
    const label = text.trim();
    return column.labels.includes(label)
      ? right(label)
      : wrong(`${column.leaf} has no value “${label}”. It has ${listLabels(column.labels)}.`);
  }
  if (column.leaf === 'String') return right(text);
  if (column.isBareJson) return readJson(text.trim());
  const reader = readers[column.leaf];
  return reader === undefined ? right(text) : reader(text.trim());
}

const mostLabels = 12;

function listLabels(labels: readonly string[]): string {
  return labels.length <= mostLabels
    ? labels.join(', ')
    : `${labels.slice(0, mostLabels).join(', ')} and ${labels.length - mostLabels} more`;
}

/** A list is a JSON array; numbers may be written with or without quotes. */
function readList(text: string, column: ApiColumn): ReadCell {
  const problem = problemOfJson(text);
  if (problem !== null) return wrong(problem);
  const list: unknown = JSON.parse(quoteNumbers(text));
  if (!Array.isArray(list)) return wrong('Enter a list in brackets, such as ["one", "two"].');
  const element = { ...column, isList: false };
  const values: unknown[] = [];
  for (const each of list) {
    if (typeof each === 'object' && each !== null) return wrong('A list cannot hold lists or objects.');
    const read = each === null ? right(null) : readCell(String(each), element);
    if (read.problem !== null) return read;
    values.push(read.value);
  }
  return right(values);
}

/** The value of a JSON text. Its null is not that of the database. */
function readJson(text: string): ReadCell {
  const problem = problemOfJson(text);
  if (problem !== null) return wrong(problem);
  return right(text === 'null' ? rawJson(text) : readText(text));
}

/** What is wrong with a JSON text; null if nothing is. */
function problemOfJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}

const jsonParts = /"(?:[^"\\]|\\.)*"|[-+]?\d[\d.eE+-]*|[{}[\],:]|\s+|[^\s{}[\],:"]+/g;

/** JSON whose numbers are strings, because JavaScript would round long ones. */
function quoteNumbers(json: string): string {
  return json.replace(jsonParts, (part) => (/^[-\d]/.test(part) ? `"${part}"` : part));
}

/** JSON in lines, its values unchanged; numbers are not read, so long ones keep their digits. */
export function indentJson(json: string): string {
  let depth = 0;
  let result = '';
  const parts = (json.match(jsonParts) ?? []).filter((part) => part.trim() !== '');
  const newLine = (): string => `\n${'  '.repeat(depth)}`;
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1] ?? '';
    if (/^[}\]]/.test(part)) {
      depth--;
      result += /^[{[]/.test(parts[index - 1] ?? '') ? part : `${newLine()}${part}`;
    } else if (/^[{[]/.test(part)) {
      depth++;
      result += /^[}\]]/.test(next) ? part : `${part}${newLine()}`;
    } else if (part === ',') result += `,${newLine()}`;
    else result += part === ':' ? ': ' : part;
  }
  return result;
}

/** What a cell shows. */
export function describeCell(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(', ');
  return JSON.stringify(value ?? null);
}

/** What an editor of the cell begins with. */
export function writeCell(value: unknown, { isList, isBareJson, leaf }: ApiColumn): string {
  if (value === null || value === undefined) return '';
  if (isList) return JSON.stringify(value, null, 2);
  if (isBareJson) return indentJson(JSON.stringify(value));
  return leaf === 'JSON' && typeof value === 'string' ? indentJson(value) : describeCell(value);
}
