/** What settles the conflicts of an insert, found in the catalogs by the name that the client gives, and written as one would by hand. */

import { type CaseContext, readValue } from './case-context.ts';
import type { LoadedTable } from './loaded-tables.ts';
import { RefusalError } from './property-failure.ts';
import { quoteIdentifier, quoteLiteral } from './schema-sql.ts';

interface Index {
  readonly name: string;
  readonly columns: readonly string[];
  readonly condition: string | null;
}

/** The columns of the unique index of this name, with its condition: `("id", "code") where (code is not null)`. */
export async function conflictTarget(context: CaseContext, table: LoadedTable, name: string): Promise<string> {
  const index = await readIndex(context, table, name);
  const columns = index.columns.map((column) => quoteIdentifier(column)).join(', ');
  return `(${columns})${index.condition === null ? '' : ` where ${index.condition}`}`;
}

/** The columns of the unique index of this name, which has to be one of all rows. */
export async function conflictColumns(context: CaseContext, table: LoadedTable, name: string): Promise<readonly string[]> {
  const { columns, condition } = await readIndex(context, table, name);
  if (condition !== null) throw new RefusalError('a partial index');
  return columns;
}

async function readIndex({ database }: CaseContext, { schemaName, description }: LoadedTable, name: string): Promise<Index> {
  const table = quoteLiteral(quoteIdentifier(schemaName, description.name));
  const text = await readValue(
    database,
    `select json_agg(json_build_object('name', c.relname, 'condition', pg_get_expr(i.indpred, i.indrelid), 'columns', (
      select json_agg(a.attname) from pg_attribute a where a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    )) order by i.indexrelid)::text
    from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = ${table}::regclass and i.indisunique`,
  );
  const indexes = JSON.parse(text ?? '[]') as Index[];
  return byLegalName(indexes, ({ name: own }) => own, name);
}

/** A letter without its marks, the code point of one that is not Latin, and an underscore for anything else. */
function lettersOf(character: string): string {
  const plain = character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  if (/^[_0-9a-z]+$/i.test(plain)) return plain;
  return /[^\p{ASCII}\p{P}\p{Z}\p{C}]/u.test(character) ? `u${character.codePointAt(0)!.toString(16).padStart(4, '0')}` : '_';
}

/** What a value of an enum stands for, whose name may not be its own. */
export function byLegalName<Item>(items: readonly Item[], nameOf: (item: Item) => string, value: string): Item {
  const isLegal = (name: string) => /^[_a-z][_0-9a-z]*$/i.test(name) && !/^(__|true$|false$|null$)/.test(name);
  const own = items.find((item) => nameOf(item) === value);
  if (own !== undefined && isLegal(value)) return own;
  const taken = items.map(nameOf).filter(isLegal);
  for (const item of items) {
    if (isLegal(nameOf(item))) continue;
    const words = [...nameOf(item)].map(lettersOf).join('');
    const legal = (/^\d|^(true|false|null)$/.test(words) ? `_${words}` : words).replace(/^_{2,}/, '_');
    let given = legal;
    for (let number = 2; taken.includes(given); number += 1) given = `${legal}${number}`;
    if (given === value) return item;
    taken.push(given);
  }
  throw new Error(`Nothing has the name ${value}.`);
}
