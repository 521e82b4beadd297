/**
 * Tabs next to the response: how long it took and, if the server reports it, what ran: SQL, PostgreSQL's plan, cost, advice. Rendered in
 * GraphiQL's footer; the style sheet moves the tabs above the response, and hides the response behind the other tabs.
 */
import { useGraphiQL } from '@graphiql/react';
import { type ComponentType, useEffect, useState, useSyncExternalStore } from 'react';
import { ChangesView } from './live/changes-view.tsx';
import { usePage } from './page-context.ts';
import { later, PartBoundary } from './part-boundary.tsx';
import { SchemaNotice } from './schema-notice.tsx';
import { type ExplanationState, useExplanation } from './use-explanation.ts';

export interface ExplanationViewProps {
  readonly state: Extract<ExplanationState, { kind: 'explained' }>;
}

const explanationViews: Readonly<Record<string, ComponentType<ExplanationViewProps>>> = {
  SQL: later(() => import('./sql-view.tsx'), 'SqlView'),
  Plan: later(() => import('./database-plan-view.tsx'), 'DatabasePlanView'),
  Cost: later(() => import('./cost-view.tsx'), 'CostView'),
  Advice: later(() => import('./advice-view.tsx'), 'AdviceView'),
};
const TimingView = later(() => import('./timing-view.tsx'), 'TimingView');

export function ResultTabs() {
  const { backend, lastExchange, live } = usePage();
  const [chosen, setActive] = useState('Response');
  const exchange = useSyncExternalStore(lastExchange.subscribe, lastExchange.get);
  const hasFailed = useGraphiQL((state) => state.fetchError !== null);
  const responseEditor = useGraphiQL((state) => state.responseEditor);
  useEffect(() => {
    // Rows of another caller must not stay under the name of this one.
    if (exchange === undefined) responseEditor?.setValue('');
  }, [exchange, responseEditor]);
  const isLive = useSyncExternalStore(live.subscribe, live.get) !== null;
  const names = ['Response', ...(isLive ? ['Changes'] : []), ...(backend === null ? [] : Object.keys(explanationViews)), 'Timing'];
  const active = names.includes(chosen) ? chosen : 'Response';
  const View = explanationViews[active];
  const { state, measure } = useExplanation(exchange ?? null, View !== undefined);
  const content =
    exchange === undefined ? (
      <p>Run the operation first.</p>
    ) : exchange === null ? (
      <p>The last request got no response.</p>
    ) : active === 'Changes' ? (
      <ChangesView />
    ) : active === 'Timing' ? (
      <TimingView exchange={exchange} />
    ) : (
      <Explained state={state} measure={measure} View={View} />
    );
  return (
    <>
      <div className="result-tabs" role="tablist" aria-label="Result">
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === active}
            aria-controls="result-panel"
            onClick={() => setActive(name)}
          >
            {name}
          </button>
        ))}
        <LiveBadge />
        {exchange && (
          <span className="result-summary">
            {exchange.status} · {exchange.milliseconds.toFixed(0)} ms
          </span>
        )}
      </div>
      {exchange === undefined && active === 'Response' && (
        <div className="result-hint">
          <p>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the operation at the cursor.
          </p>
          {hasFailed && <SchemaNotice />}
        </div>
      )}
      <section
        id="result-panel"
        className={active === 'Response' ? 'result-panel hidden' : 'result-panel'}
        aria-label={active}
        tabIndex={0}
      >
        {active !== 'Response' && <PartBoundary key={active}>{content}</PartBoundary>}
      </section>
    </>
  );
}

interface ExplainedProps {
  readonly state: ExplanationState;
  readonly measure: () => void;
  readonly View: ComponentType<ExplanationViewProps> | undefined;
}

function Explained({ state, measure, View }: ExplainedProps) {
  if (state.kind === 'failed') return <pre className="explain-error">{state.message}</pre>;
  if (state.kind === 'waiting' || View === undefined) return <p role="status">Explaining …</p>;
  return (
    <>
      {state.explanation.mode === 'plan' && (
        <p>
          A mutation is planned, not run.{' '}
          <button type="button" className="page-button" onClick={measure}>
            Run it in a transaction that is rolled back
          </button>
        </p>
      )}
      <View state={state} />
    </>
  );
}

/** Beside the tabs of the result: that a subscription runs, how many answers came, and when the last one did. */
function LiveBadge() {
  const { live } = usePage();
  const state = useSyncExternalStore(live.subscribe, live.get);
  if (state === null) return null;
  const { isRunning, count, at } = state;
  return (
    <span className="live-badge" data-running={isRunning}>
      <span className="live-dot" aria-hidden="true" />
      {isRunning ? 'Live' : 'Ended'} · {count} {count === 1 ? 'answer' : 'answers'} ·{' '}
      <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>
    </span>
  );
}
