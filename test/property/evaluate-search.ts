/**
 * Full-text search (docs/additions/search.md): which rows a text finds, how well they match it, and what they show of it. PostgreSQL reads texts and ranks one document
 * for one query.
 */

import { type GraphQLNamedType, isInputObjectType } from 'graphql';
import { baseOf, realType } from './column-types.ts';
import { byLegalName } from './evaluate-conflict.ts';
import { type LoadedRow, type LoadedTable, rowsOf, valueOf } from './loaded-tables.ts';
import { type Measure, measureRows } from './measures.ts';
import { RefusalError } from './property-failure.ts';
import { isGranted, type TableDescription } from './schema-description.ts';
import { quoteLiteral } from './schema-sql.ts';
import { any, type Truth } from './truth.ts';
import type { ValueOracle } from './value-oracle.ts';

export interface SearchInput {
  readonly text: string;
  readonly mode?: string | null;
  readonly config?: string | null;
}

interface SearchDirective {
  readonly columns?: readonly string[] | Readonly<Record<string, string>>;
  readonly column?: string;
  readonly config?: string;
}

/** What a search of a table looks at: the column of type tsvector, or texts with their weights. */
interface Searched {
  readonly vector: string | null;
  readonly parts: readonly (readonly [column: string, weight: string])[];
  /** Null for PostgreSQL's default. */
  readonly config: string | null;
}

/** Whether an input is a search. */
export function isSearchInput(type: GraphQLNamedType): boolean {
  return isInputObjectType(type) && Object.keys(type.getFields()).join() === 'text,mode,config';
}

/** Null where the role has no search. */
function searchedOf(description: TableDescription, role: string): Searched | null {
  const { columns, column, config } = (description.directive.search ?? {}) as SearchDirective;
  const isReadable = (name: string) => isGranted(description, role, 'select', name);
  if (columns) {
    const parts = Array.isArray(columns) ? columns.map((name: string) => [name, 'D'] as const) : Object.entries(columns);
    return parts.every(([name]) => isReadable(name)) ? { vector: null, parts, config: config ?? 'simple' } : null;
  }
  const vectors = description.columns.filter(({ name, type }) => type.sql === 'tsvector' && isReadable(name));
  const vector = column === undefined ? vectors[0] : vectors.find(({ name }) => name === column);
  if (!vector) return null;
  const generated = /^to_tsvector\('(\w+)'/.exec(vector.generatedSql ?? '')?.[1] ?? null;
  return { vector: vector.name, parts: [], config: config ?? generated };
}

/** Whether the role can search the rows of a table. */
export function isSearchable(description: TableDescription, role: string): boolean {
  return searchedOf(description, role) !== null;
}

/** The texts that are compared by their trigrams: those that are fields. */
function comparedTexts({ description, names }: LoadedTable, { vector, parts }: Searched): readonly string[] {
  const isText = (name: string) =>
    description.columns.some((column) => column.name === name && baseOf(column.type).scalar === 'String' && !column.type.isArray);
  const isCompared = (name: string) => (vector === null ? parts.some(([part]) => part === name) : isText(name));
  return names.columns.filter(({ name, selectable }) => selectable && isCompared(name)).map(({ name }) => name);
}

/** Whether there is any text to compare. */
export function hasComparedTexts(table: LoadedTable): boolean {
  const searched = searchedOf(table.description, table.world.role);
  return searched !== null && comparedTexts(table, searched).length > 0;
}

/** The words of the text, read by the mode. */
function queryOf({ config }: Searched, { text, mode, config: given }: SearchInput): string {
  const configuration = given ?? config;
  const read = (reader: string, words: string, by = configuration) =>
    `pg_catalog.${reader}(${by === null ? '' : `${quoteLiteral(by)}::regconfig, `}${quoteLiteral(words)})`;
  if (mode === 'PHRASE') return read('phraseto_tsquery', text);
  if (mode === 'PLAIN' || mode === 'SIMILAR') return read('plainto_tsquery', text);
  if (mode !== 'PREFIX') return read('websearch_to_tsquery', text);
  const prefixes = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map(([word]) => `${word}:*`).join(' & ');
  if (configuration === 'simple') return read('to_tsquery', prefixes);
  // A word that is only begun may be a stop word, or end like another.
  return `(${read('to_tsquery', prefixes)} || ${read('to_tsquery', prefixes, 'simple')})`;
}

/** The document of each row, as an expression over `value`, and what that is for each row. */
function documents(
  table: LoadedTable,
  { vector, parts, config }: Searched,
): { readonly texts: (string | null)[]; readonly expression: string } {
  const rows = rowsOf(table);
  if (vector !== null) return { texts: rows.map((row) => valueOf(row, vector).text), expression: 'value::tsvector' };
  const texts = rows.map((row) => JSON.stringify(parts.map(([name]) => valueOf(row, name).text)));
  const words = parts.map(
    ([, weight], index) => `setweight(to_tsvector(${quoteLiteral(config)}::regconfig, coalesce(value::json->>${index}, '')), '${weight}')`,
  );
  return { texts, expression: `(${words.join(' || ')})` };
}

function searchedBy(table: LoadedTable): Searched {
  const searched = searchedOf(table.description, table.world.role);
  if (!searched) throw new Error(`${table.description.name} cannot be searched.`);
  return searched;
}

/** What each row answers to a search. */
export async function judgeSearch(table: LoadedTable, search: SearchInput, oracle: ValueOracle): Promise<readonly Truth[]> {
  const searched = searchedBy(table);
  if (search.mode !== 'SIMILAR') {
    const { texts, expression } = documents(table, searched);
    return (await oracle.list(texts, `${expression} @@ ${queryOf(searched, search)}`)) as Truth[];
  }
  const truths: Truth[][] = [];
  for (const name of comparedTexts(table, searched)) {
    const texts = rowsOf(table).map((row) => valueOf(row, name).text);
    truths.push((await oracle.list(texts, `public.word_similarity(${quoteLiteral(search.text)}, value) >= 0.6`)) as Truth[]);
  }
  if (truths.length === 0) throw new RefusalError('There are no texts to compare.');
  return rowsOf(table).map((_, index) => any(truths.map((each) => each[index]!)));
}

/** How well each row matches. */
export async function rankRows(table: LoadedTable, search: SearchInput, oracle: ValueOracle): Promise<Measure> {
  const searched = searchedBy(table);
  const rows = rowsOf(table);
  if (search.mode !== 'SIMILAR') {
    const { texts, expression } = documents(table, searched);
    const query = queryOf(searched, search);
    // What is excluded does not count.
    const counted = (search.mode ?? 'WEBSEARCH') === 'WEBSEARCH' ? `querytree(${query})::tsquery` : query;
    return measureRows(oracle, rows, texts, `ts_rank(${expression}, ${counted})`, realType);
  }
  const names = comparedTexts(table, searched);
  const texts = rows.map((row) => JSON.stringify(names.map((name) => valueOf(row, name).text)));
  const each = names.map((_, index) => `public.word_similarity(${quoteLiteral(search.text)}, coalesce(value::json->>${index}, ''))`);
  return measureRows(oracle, rows, texts, `greatest(${each.join(', ')})`, realType);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Where a column has the words, as HTML. */
export async function snippetOf(
  row: LoadedRow,
  search: SearchInput | null | undefined,
  { column, start, stop, words }: Readonly<Record<string, unknown>>,
  oracle: ValueOracle,
): Promise<string | null> {
  if (!search) return null;
  const searched = searchedBy(row.table);
  const compared = comparedTexts(row.table, searched).flatMap((name) => row.table.names.columns.find((each) => each.name === name) ?? []);
  const { text } = valueOf(row, byLegalName(compared, ({ fieldName }) => fieldName, String(column)).name);
  if (((words ?? 0) as number) < 0) throw new RefusalError('a negative count');
  if (text === null) return null;
  const most = Math.max(Number(words ?? 35), 2);
  const options = `StartSel="\u0001", StopSel="\u0002", MaxWords=${most}, MinWords=${Math.min(15, most - 1)}, ShortWord=0`;
  const configuration = search.config ?? searched.config;
  const by = configuration === null ? '' : `${quoteLiteral(configuration)}::regconfig, `;
  const headline = `ts_headline(${by}value, ${queryOf(searched, search)}, ${quoteLiteral(options)})`;
  // The text loses what marks words.
  const [marked] = (await oracle.list([text.replaceAll('\u0001', '').replaceAll('\u0002', '')], headline)) as string[];
  const escaped = marked!.replaceAll(/[&<>"']/g, (character) => entities[character]!);
  return escaped.replaceAll('\u0001', () => String(start ?? '<b>')).replaceAll('\u0002', () => String(stop ?? '</b>'));
}
