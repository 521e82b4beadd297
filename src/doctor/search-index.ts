/**
 * The indexes that distances need, and the one that a full-text search needs: a GIN index on the tsvector, or on the expression that searches write, or of trigrams on a column.
 * Whether a table has it is told from the keys of its indexes as PostgreSQL deparses them, without casts, parentheses and qualified names.
 */
import type { MeasuredColumn, TableSearch } from '../model/model.ts';
import { forms, type Metric, metrics } from '../model/types/metrics.ts';

/** The key of an index that a table needs, as SQL and in words. */
export interface SearchKey {
  readonly sql: string;
  readonly words: string;
}

/** Writes names as SQL; `config` finds the name of a text search configuration that is given by its oid. */
interface SearchNames {
  readonly quote: (name: string) => string;
  readonly config: (id: number) => string | undefined;
}

/** The key by which an index finds the words of a search. */
export function searchKey({ vector, parts, config }: TableSearch, { quote, config: nameOf }: SearchNames): SearchKey {
  if (vector !== null) return { sql: quote(vector), words: vector };
  const named = config !== null && /^\d+$/.test(config) ? nameOf(Number(config)) : config?.replace(/^pg_catalog\./, '');
  const vectors = parts.map(({ name, weight }) => {
    const words = `to_tsvector('${(named ?? '').replaceAll("'", "''")}', coalesce(${quote(name)}::text, ''))`;
    return weight === 'D' ? words : `setweight(${words}, '${weight}')`;
  });
  return { sql: `(${vectors.join(' || ')})`, words: `the words of ${parts.map(({ name }) => name).join(', ')}` };
}

/** Whether one of these keys, as PostgreSQL deparses them, is on the same column or expression. */
export function isServedBy({ sql }: SearchKey, keys: readonly string[]): boolean {
  return keys.some((key) => plain(key) === plain(sql));
}

/** `setweight(to_tsvector('english'::regconfig, COALESCE(title, ''::text)), 'A'::"char")` → `setweightto_tsvector'english',coalescetitle,'','a'`. */
function plain(sql: string): string {
  return sql
    .replaceAll(/::(?:"char"|[a-z_]+(?:\.[a-z_]+)*(?: varying)?)/gi, '')
    .replaceAll(/'(?:[^'.]*\.)([^'.]+)'(?=,)/g, "'$1'")
    .replaceAll(/[\s()"]/g, '')
    .toLowerCase();
}

/** The index by which PostgreSQL finds the nearest rows: `hnsw (embedding vector_cosine_ops)`. `column` is SQL. */
export function distanceIndex(column: string, { form, operatorClass }: MeasuredColumn, metric: Metric): string {
  const { isApproximate } = forms[form];
  const named = isApproximate ? `${operatorClass}_${metrics[metric].operatorClass}_ops` : operatorClass;
  return `${isApproximate ? 'hnsw' : 'gist'} (${column}${named === null ? '' : ` ${named}`})`;
}
