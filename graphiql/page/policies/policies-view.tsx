/** Who sees what: the grants and policies of each table in plain words, and two callers side by side over a table or the editor's query. */
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import type { AccessReport, TableAccess } from '../../../src/access/access.ts';
import { CallerChoice } from '../caller-choice.tsx';
import { usePage, type ViewProps } from '../page-context.ts';
import { readLocation, type ShownPolicies, writeLocation } from '../page-location.ts';
import { TableList } from '../table-list.tsx';
import { AnswerComparisonView } from './answer-comparison.tsx';
import { RowComparisonView } from './row-comparison.tsx';
import { TablePolicies } from './table-policies.tsx';
import { type Pair, usePair } from './use-pair.ts';

type Settled = { readonly report: AccessReport } | { readonly error: string };

export function PoliciesView(props: ViewProps) {
  const { backend } = usePage();
  return backend === null ? <WhyNot /> : <Policies {...props} />;
}

/** What stands here where anybody with a key may open the page. */
function WhyNot() {
  return (
    <div className="part-notice">
      <h2>Who sees what is shown on your own machine only</h2>
      <p>
        Grants and policies tell of all roles, and this server may be reached by others: so <code>rowgraph serve</code> shows none of them.
        What your own role may use is all that the other views show.
      </p>
      <p>
        To see them for this database, run <code>rowgraph dev --database-url …</code> or <code>rowgraph access --database-url …</code>.
      </p>
    </div>
  );
}

/** The report, read again after each change of the schema. */
function useReport(): Settled | null {
  const { backend } = usePage();
  const schema = useGraphiQL((state) => state.schema);
  const [settled, setSettled] = useState<Settled | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new schema is the sign that grants may have changed too.
  useEffect(() => {
    let isLate = false;
    backend?.readAccess().then(
      (report) => !isLate && setSettled({ report }),
      (error: Error) => !isLate && setSettled({ error: error.message }),
    );
    return () => {
      isLate = true;
    };
  }, [backend, schema]);
  return settled;
}

function Policies(props: ViewProps) {
  const settled = useReport();
  if (settled === null)
    return (
      <p className="part-notice" role="status">
        Reading grants and policies …
      </p>
    );
  if ('error' in settled) return <p className="part-notice explain-error">{settled.error}</p>;
  if (settled.report.tables.length === 0) return <p className="part-notice">The exposed schemas have no tables.</p>;
  return <Report report={settled.report} {...props} />;
}

/** Stands for the operation in the editor in the list of tables. */
const editor = '';

function Report({ report, onShow }: ViewProps & { readonly report: AccessReport }) {
  const [shown, setShown] = useState<ShownPolicies>(() => readLocation('policies') ?? {});
  const change = (part: Partial<ShownPolicies>): void => setShown((before) => ({ ...before, ...part }));
  useEffect(() => writeLocation('policies', shown), [shown]);
  const table = shown.table === editor ? null : (report.tables.find((each) => isNamed(each, shown.table)) ?? report.tables[0]!);
  const pair = usePair(report, shown, change);
  const tab = table === null ? 'callers' : (shown.tab ?? 'words');
  return (
    <div className="policies">
      <TableList
        tables={report.tables.map((each) => ({
          name: nameOf(each),
          alias: each.typeName,
          mark: isRemarkable(each) ? <RowSecurityMark table={each} /> : null,
        }))}
        chosen={table === null ? editor : nameOf(table)}
        other="The operation in the editor"
        onChoose={(name) => change({ table: name })}
      />
      <section className="policies-detail" aria-label={table === null ? 'The operation in the editor' : nameOf(table)} tabIndex={0}>
        <header className="policies-head">
          <h2>{table === null ? 'The operation in the editor' : nameOf(table)}</h2>
          {table !== null && <RowSecurityMark table={table} />}
          {table?.typeName != null && (
            <button type="button" className="page-button small" onClick={() => onShow('Rows', table.typeName!)}>
              Open in Rows
            </button>
          )}
          {table !== null && (
            <div className="segments" role="tablist" aria-label="What to show">
              <Segment name="In words" isChosen={tab === 'words'} onChoose={() => change({ tab: 'words' })} />
              <Segment name="Two callers" isChosen={tab === 'callers'} onChoose={() => change({ tab: 'callers' })} />
            </div>
          )}
        </header>
        {table !== null && tab === 'words' && <TablePolicies table={table} report={report} />}
        {tab === 'callers' && (
          <>
            <CallerPair pair={pair} />
            {table === null ? <AnswerComparisonView pair={pair} /> : <RowComparisonView pair={pair} table={table} />}
          </>
        )}
      </section>
    </div>
  );
}

function Segment({ name, isChosen, onChoose }: { readonly name: string; readonly isChosen: boolean; readonly onChoose: () => void }) {
  return (
    <button type="button" role="tab" aria-selected={isChosen} onClick={onChoose}>
      {name}
    </button>
  );
}

export function nameOf({ schema, name }: TableAccess): string {
  return schema === 'public' ? name : `${schema}.${name}`;
}

/** By its name here, or by that of its rows in the API, as other views call it. */
function isNamed(table: TableAccess, name: string | undefined): boolean {
  return name !== undefined && (nameOf(table) === name || table.typeName === name);
}

const marks: Readonly<Record<TableAccess['rowSecurity'], string>> = {
  on: 'row security',
  forced: 'row security, forced',
  off: 'no row security',
  none: '',
};

/** Most tables have row security; the others are worth a mark. */
function isRemarkable({ rowSecurity, notes }: TableAccess): boolean {
  return rowSecurity === 'none' || notes.some(({ isWarning }) => isWarning);
}

function RowSecurityMark({ table: { rowSecurity, kind, notes } }: { readonly table: TableAccess }) {
  const isOpen = notes.some(({ isWarning }) => isWarning);
  return <span className={isOpen ? 'policy-mark open' : 'policy-mark'}>{rowSecurity === 'none' ? kind : marks[rowSecurity]}</span>;
}

/** The menus that choose the two callers. */
const sides = { one: 'One caller', other: 'The other caller' } as const;

function CallerPair({ pair }: { readonly pair: Pair }) {
  const choose = (side: keyof typeof sides) => (
    <fieldset className={`caller-choice ${side}`}>
      <legend>{sides[side]}</legend>
      <CallerChoice caller={pair[side]} choices={pair.choices} onChange={(caller) => pair.change(side, caller)} />
    </fieldset>
  );
  return (
    <div className="caller-pair">
      {choose('one')}
      <span className="caller-versus" aria-hidden="true">
        and
      </span>
      {choose('other')}
    </div>
  );
}
