/**
 * The rows that an insert into shards has written, next to their inputs. Those of one shard come in the order of the input, but the shards in
 * any order; so the first row with a value of the distribution column is that of the first input with it, and so on.
 */
import { as, subselect } from '../../sql/clauses.ts';
import { identifier, type Sql, sql, trusted } from '../../sql/sql.ts';

interface Ranked {
  readonly rows: Sql;
  /** The output that decides the shard. */
  readonly shard: Sql;
}

/** Names of outputs that `written` does not have. */
export interface FreeNames {
  readonly place: string;
  readonly rank: string;
}

const usual: FreeNames = { place: 'place', rank: 'rank' };

/** A subselect of `written` with the outputs `columns` of `inputs`, which has the alias i and is in the order of an output of its own. */
export function besideInputs(
  written: Ranked,
  inputs: Ranked & { readonly order: Sql },
  columns: readonly Sql[],
  names: FreeNames = usual,
): Sql {
  const [place, rank] = [identifier(names.place), identifier(names.rank)];
  const numbered = subselect({ columns: [sql`r.*, pg_catalog.row_number() over () as ${place}`], from: as(written.rows, 'r') });
  const ranked = ({ rows, shard }: Ranked, order: Sql): Sql =>
    subselect({
      columns: [trusted('r.*'), sql`pg_catalog.row_number() over (partition by r.${shard} order by r.${order}) as ${rank}`],
      from: as(rows, 'r'),
    });
  return subselect({
    columns: [trusted('w.*'), ...columns],
    from: as(ranked({ ...written, rows: numbered }, place), 'w'),
    joins: [sql`left join ${as(ranked(inputs, inputs.order), 'i')} on i.${inputs.shard} = w.${written.shard} and i.${rank} = w.${rank}`],
  });
}
