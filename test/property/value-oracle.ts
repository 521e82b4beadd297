/**
 * Asks PostgreSQL what an operator, an order or an aggregate of one type says of single values, by plain selects over lists of texts.
 * Everything else of filters, orders and aggregates the evaluator does itself.
 */
import type { CaseDatabase } from '../conformance/case-database.ts';
import { readValue } from './case-context.ts';
import type { ColumnType } from './column-types.ts';
import { quoteLiteral } from './schema-sql.ts';

type Text = string | null;

export class ValueOracle {
  readonly #database: CaseDatabase;
  readonly #ranks = new Map<string, readonly (number | null)[]>();

  constructor(database: CaseDatabase) {
    this.#database = database;
  }

  /** For each value whether `value operator operand` holds; null where that is unknown. */
  async compare(values: readonly Text[], { sql }: ColumnType, operator: string, operandSql: string): Promise<(boolean | null)[]> {
    const item = `(value::${sql}) ${operator} ${operandSql}`;
    return (await this.list(values, `case when value is not null then ${item} end`)) as (boolean | null)[];
  }

  /** The place of each value in the order of its type; equal values have one place, null has none. */
  async ranks(values: readonly Text[], { sql }: ColumnType): Promise<readonly (number | null)[]> {
    const key = JSON.stringify([sql, values]);
    const known = this.#ranks.get(key);
    if (known) return known;
    const ranks = (await this.list(values, `case when value is not null then dense_rank() over (order by value::${sql}) end`)) as (
      | number
      | null
    )[];
    this.#ranks.set(key, ranks);
    return ranks;
  }

  /** The text of an aggregate, such as `sum(value::numeric)`. */
  async aggregate(values: readonly Text[], expression: string): Promise<string | null> {
    return readValue(this.#database, `select (${expression})::text from ${list(values)}`);
  }

  /** What an expression over `value` yields for each value. */
  async list(values: readonly Text[], expression: string): Promise<unknown[]> {
    if (values.length === 0) return [];
    const query = `select pg_catalog.json_agg(result order by number)::text from (select number, ${expression} as result from ${list(values)}) as results`;
    return JSON.parse((await readValue(this.#database, query)) ?? '[]') as unknown[];
  }
}

function list(values: readonly Text[]): string {
  return `json_array_elements_text(${quoteLiteral(JSON.stringify(values))}::json) with ordinality as items(value, number)`;
}
