/** The rows of a table as two callers see them: which only one sees, and which values differ. */
import { useState } from 'react';
import type { TableAccess } from '../../../src/access/access.ts';
import {
  type ComparedColumn,
  type ComparedRow,
  compareRows,
  findUndecided,
  type RowComparison,
  type SeenBy,
  type SeenRows,
} from './compare-rows.ts';
import { mostRows } from './read-as.ts';
import { useAsked } from './use-asked.ts';
import type { Pair } from './use-pair.ts';

interface Compared {
  readonly one: SeenRows;
  readonly other: SeenRows;
  readonly comparison: RowComparison;
}

export function RowComparisonView({ pair, table }: { readonly pair: Pair; readonly table: TableAccess }) {
  const [onlyDifferences, setOnlyDifferences] = useState(false);
  const { typeName } = table;
  const question = JSON.stringify([typeName, pair.one, pair.other]);
  const { answer: compared, error } = useAsked(question, pair.reader, typeName === null ? null : () => compare(pair, typeName));
  if (typeName === null)
    return <p className="part-notice">It is in the API of none of these roles, so neither caller sees a row of it. The doctor says why.</p>;
  if (error !== undefined) return <p className="part-notice explain-error">{error}</p>;
  if (compared === undefined)
    return (
      <p className="part-notice" role="status">
        Reading the rows of both …
      </p>
    );
  const { rows, columns } = compared.comparison;
  const isSame = ({ seenBy, differing }: ComparedRow): boolean => seenBy === 'both' && differing.size === 0;
  // What differs is what one looks for, and comes first.
  const shown = [...rows.filter((row) => !isSame(row)), ...(onlyDifferences ? [] : rows.filter(isSame))];
  return (
    <>
      <Summary compared={compared} names={pair.names} />
      <label className="only-differences">
        <input type="checkbox" checked={onlyDifferences} onChange={({ target }) => setOnlyDifferences(target.checked)} /> Only differences
      </label>
      {shown.length === 0 ? (
        <p className="part-notice">{rows.length === 0 ? 'Neither sees a row.' : 'Both see the same rows and values.'}</p>
      ) : (
        <Grid rows={shown} columns={columns} names={pair.names} />
      )}
    </>
  );
}

async function compare({ reader, one, other }: Pair, type: string): Promise<Compared> {
  const [ofOne, ofOther] = await Promise.all([reader.readRows(one, type), reader.readRows(other, type)]);
  const [openOfOne, openOfOther] = [findUndecided(ofOne, ofOther), findUndecided(ofOther, ofOne)];
  const [foundByOther, foundByOne] = await Promise.all([reader.lookUp(other, type, openOfOne), reader.lookUp(one, type, openOfOther)]);
  const comparison = compareRows(
    { ...ofOne, rows: new Map([...ofOne.rows, ...foundByOne.rows]) },
    { ...ofOther, rows: new Map([...ofOther.rows, ...foundByOther.rows]) },
    new Set([...foundByOther.known, ...foundByOne.known]),
  );
  return { one: ofOne, other: ofOther, comparison };
}

interface Names {
  readonly one: string;
  readonly other: string;
}

function Summary({ compared: { one, other, comparison }, names }: { readonly compared: Compared; readonly names: Names }) {
  const { counts, undecided } = comparison;
  const isCut = one.isCut || other.isCut;
  return (
    <div className="comparison-summary" role="status">
      <ul>
        <li className="both">
          <strong>{counts.both}</strong> both see
        </li>
        <li className="one">
          <strong>{counts.one}</strong> only {names.one} sees
        </li>
        <li className="other">
          <strong>{counts.other}</strong> only {names.other} sees
        </li>
        {counts.differing > 0 && (
          <li>
            <strong>{counts.differing}</strong> with different values
          </li>
        )}
      </ul>
      <p className="muted">
        {names.one} sees {countOf(one)}, {names.other} {countOf(other)}.
        {isCut && ` Compared are the first ${mostRows.toLocaleString('en')} of each: there may be more differences behind them.`}
        {undecided > 0 && ` ${undecided} beyond the end of the other's rows are left out.`}
        {sayColumns(names.one, one, names.other, other)}
        {sayColumns(names.other, other, names.one, one)}
      </p>
    </div>
  );
}

const list = new Intl.ListFormat('en-GB');

/** What of the table one caller may read, and the other not. */
function sayColumns(name: string, seen: SeenRows, otherName: string, other: SeenRows): string {
  if (!seen.hasTable) return ` The API of ${name} has no such table.`;
  const own = seen.columns.filter((column) => !other.columns.includes(column));
  return own.length === 0 || !other.hasTable ? '' : ` ${name} may read ${list.format(own)}, and ${otherName} may not.`;
}

function countOf({ total, rows, isCut }: SeenRows): string {
  const count = total ?? rows.size;
  return `${count.toLocaleString('en')}${total === null && isCut ? ' rows or more' : count === 1 ? ' row' : ' rows'}`;
}

interface GridProps {
  readonly rows: readonly ComparedRow[];
  readonly columns: readonly ComparedColumn[];
  readonly names: Names;
}

const symbols: Readonly<Record<SeenBy, string>> = { both: '●', one: '◐', other: '◑' };

function Grid({ rows, columns, names }: GridProps) {
  const word = (seenBy: SeenBy): string => (seenBy === 'both' ? 'both' : `only ${names[seenBy]}`);
  return (
    <section className="comparison-grid" aria-label="Rows of both callers" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">seen by</th>
            {columns.map(({ name, readBy }) => (
              <th key={name} scope="col" className={readBy === 'both' ? undefined : `seen ${readBy}`}>
                {name}
                {readBy !== 'both' && <small>{word(readBy)}</small>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} className={`seen ${row.seenBy}`}>
              <th scope="row">
                <span aria-hidden="true">{symbols[row.seenBy]}</span> {word(row.seenBy)}
              </th>
              {columns.map((column) => (
                <Value key={column.name} row={row} column={column} names={names} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Value({ row, column: { name }, names }: { readonly row: ComparedRow; readonly column: ComparedColumn; readonly names: Names }) {
  if (row.differing.has(name))
    return (
      <td className="differs">
        <div>
          {names.one}: <Text value={row.one?.[name]} />
        </div>
        <div>
          {names.other}: <Text value={row.other?.[name]} />
        </div>
      </td>
    );
  const value = row.one !== null && name in row.one ? row.one[name] : row.other?.[name];
  return <td>{value === undefined ? <span className="muted">may not read</span> : <Text value={value} />}</td>;
}

function Text({ value }: { readonly value: unknown }) {
  if (value === null) return <i className="muted">null</i>;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
