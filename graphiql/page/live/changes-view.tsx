/** What the last answer of a subscription changed. */
import { useMemo, useSyncExternalStore } from 'react';
import { usePage } from '../page-context.ts';
import { type Difference, diffAnswers } from './diff-answers.ts';

export function ChangesView() {
  const { live } = usePage();
  const state = useSyncExternalStore(live.subscribe, live.get);
  const previous = state?.previous ?? null;
  const current = state?.current ?? null;
  const differences = useMemo(() => (previous === null ? [] : diffAnswers(previous, current)), [previous, current]);
  if (state === null) return <p>Run a subscription: what each answer changes is shown here.</p>;
  if (previous === null) return <p role="status">The first answer. What the next one changes is shown here.</p>;
  if (differences.length === 0) return <p role="status">The last answer changed nothing that is shown.</p>;
  return (
    <table className="live-changes">
      <caption>
        Answer {state.count}, at {new Date(state.at).toLocaleTimeString()}
      </caption>
      <tbody>
        {differences.map((difference) => (
          <Line key={`${difference.path} ${difference.kind}`} {...difference} />
        ))}
      </tbody>
    </table>
  );
}

const signs = { added: '+', removed: '−', changed: '±' } as const;

function Line({ path, kind, before, after }: Difference) {
  return (
    <tr data-kind={kind}>
      <th scope="row">
        <span title={kind}>{signs[kind]}</span> {path}
      </th>
      <td>{before !== undefined && <del>{before}</del>}</td>
      <td>{after !== undefined && <ins>{after}</ins>}</td>
    </tr>
  );
}
