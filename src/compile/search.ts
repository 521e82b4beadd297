/**
 * Full-text search as SQL. For a column of type tsvector, and for columns of text that an index on the same expression serves:
 *
 *     t1."words" operator(pg_catalog.@@) pg_catalog.websearch_to_tsquery('pg_catalog.english'::pg_catalog.regconfig, $1::text)
 *     (pg_catalog.setweight(pg_catalog.to_tsvector('pg_catalog.english'::pg_catalog.regconfig, coalesce(t1."title"::text, '')), 'A') || …)
 */

import type { TableSearch } from '../model/model.ts';
import { operandType } from '../model/types/named-types.ts';
import type { ScalarType, ValueType } from '../model/value-type.ts';
import type { Search } from '../plan/conditions.ts';
import type { SnippetPlan } from '../plan/plan.ts';
import { coalesce } from '../sql/clauses.ts';
import type { JsonText } from '../sql/json-text.ts';
import { bind, builtIn, cast, integer, join, literal, type Sql, sql, trusted } from '../sql/sql.ts';
import type { Scope } from './scope.ts';
import { trigramComparison } from './values/comparison.ts';
import { orNull, toJson } from './values/value-json.ts';

export function searchCondition(search: Search, scope: Scope): Sql {
  if (search.mode === 'similar') return isSimilar(search, scope);
  return sql`${searchedVector(search.by, (name) => scope.column(name))} operator(pg_catalog.@@) ${searchQuery(search)}`;
}

/**
 * How well a row matches, of type real (manual: Ranking Search Results). `ts_rank` takes a word that must not be there for one that is
 * missing, so words that a web search excludes are left out.
 */
export function searchRank(search: Search, scope: Scope): Sql {
  if (search.mode === 'similar') return greatestSimilarity(search, scope);
  const query = searchQuery(search);
  const ranked = search.mode === 'websearch' ? cast(builtIn('querytree', query), 'pg_catalog.tsquery') : query;
  return builtIn(
    'ts_rank',
    searchedVector(search.by, (name) => scope.column(name)),
    ranked,
  );
}

/** Whether a part of any of the texts is similar (manual: pg_trgm, word similarity); one that is null is not, so that `not` holds. */
function isSimilar({ by, text }: Search, scope: Scope): Sql {
  const conditions = by.shown.map(({ name, type, notNull }) => {
    const column = scope.column(name);
    const similar = trigramComparison(cast(column, 'text'), '%>', bind(text, 'text'), textOf(type));
    return notNull ? similar : sql`(${column} is not null and ${similar})`;
  });
  return sql`(${join(conditions, ' or ')})`;
}

function greatestSimilarity({ by, text }: Search, scope: Scope): Sql {
  const similarities = by.shown.flatMap(({ name, type }) => {
    const { trigrams } = textOf(type);
    const part = coalesce(cast(scope.column(name), 'text'), literal(''));
    return trigrams === undefined ? [] : [sql`${trusted(trigrams)}.word_similarity(${bind(text, 'text')}, ${part})`];
  });
  return sql`greatest(${join([...similarities, trusted("'0'::real")], ', ')})`;
}

function textOf(type: ValueType): Pick<ScalarType, 'trigrams'> {
  const operand = operandType(type);
  return operand.kind === 'scalar' ? operand : {};
}

/** The vector that is searched. The doctor advises an index on the same expression. */
function searchedVector({ vector, parts, config }: TableSearch, column: (name: string) => Sql): Sql {
  if (vector !== null) return column(vector);
  const vectors = parts.map(({ name, weight }) => {
    const words = builtIn('to_tsvector', ...configuration(config), coalesce(cast(column(name), 'text'), literal('')));
    return weight === 'D' ? words : builtIn('setweight', words, literal(weight));
  });
  return vectors.length === 1 ? vectors[0]! : sql`(${join(vectors, ' operator(pg_catalog.||) ')})`;
}

/** The configuration as first argument; none for that of PostgreSQL's setting. */
function configuration(config: string | null): readonly Sql[] {
  return config === null ? [] : [sql`${literal(config)}::pg_catalog.regconfig`];
}

const functions = {
  websearch: 'websearch_to_tsquery',
  plain: 'plainto_tsquery',
  phrase: 'phraseto_tsquery',
  prefix: 'to_tsquery',
  // Only for snippets, which mark words that are the same.
  similar: 'plainto_tsquery',
} as const satisfies Record<Search['mode'], string>;

/**
 * The tsquery. None of these functions raises an error for the texts that are bound. Words that are only begun may be stop words, or end
 * like others, so prefixes are also searched as they are.
 */
function searchQuery({ config, mode, text }: Search): Sql {
  const query = builtIn(functions[mode], ...configuration(config), bind(text, 'text'));
  if (mode !== 'prefix' || config === 'pg_catalog.simple') return query;
  return sql`(${query} operator(pg_catalog.||) ${builtIn('to_tsquery', ...configuration('pg_catalog.simple'), bind(text, 'text'))})`;
}

/** Characters that mark words for `ts_headline`, and that the text itself loses. */
const opening = '\u0001';
const closing = '\u0002';
const defaultWords = 35;
const leastWords = 15;

/**
 * The snippet as JSON: `ts_headline` does not escape, so the text is escaped after it, while its marks are still control characters. The
 * collation "C" keeps `replace` from failing for texts with a nondeterministic one.
 */
export function snippetJson({ search, column, start, stop, words }: SnippetPlan, scope: Scope): JsonText {
  if (search === null) return ['null'];
  const text = sql`${cast(scope.column(column.name), 'text')} collate pg_catalog."C"`;
  const plain = builtIn('translate', text, marks(opening + closing), literal(''));
  const most =
    words === null ? integer(defaultWords) : sql`greatest(${typeof words === 'number' ? integer(words) : bind(words, 'int4')}, 2)`;
  const options = builtIn(
    'concat',
    sql`E'StartSel="\\x01", StopSel="\\x02", MaxWords='`,
    most,
    literal(', MinWords='),
    sql`least(${integer(leastWords)}, ${most} - 1)`,
    literal(', ShortWord=0'),
  );
  const headline = builtIn('ts_headline', ...configuration(search.config), plain, searchQuery(search), options);
  const marked = [
    [marks(opening), start === null ? literal('<b>') : bind(start, 'text')],
    [marks(closing), stop === null ? literal('</b>') : bind(stop, 'text')],
  ] as const;
  const html = marked.reduce((value, [from, to]) => builtIn('replace', value, from, to), escaped(headline));
  return [orNull(sql`${toJson(html)}::text`)];
}

function marks(characters: string): Sql {
  return trusted(`E'${[...characters].map((each) => `\\x0${each.charCodeAt(0)}`).join('')}'`);
}

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' } as const;

function escaped(text: Sql): Sql {
  return Object.entries(entities).reduce(
    (value, [character, entity]) => builtIn('replace', value, literal(character), literal(entity)),
    text,
  );
}
