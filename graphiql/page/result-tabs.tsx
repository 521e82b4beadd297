/**
 * Tabs beside the response: how long it took, and, where the server tells, what ran: SQL, PostgreSQL's plan, cost, advice. Stands in GraphiQL's footer; the
 * style sheet moves the tabs above the response, and hides that behind the others.
 */
import './result.css';
import { type ComponentType, useState, useSyncExternalStore } from 'react';
import { AdviceView } from './advice-view.tsx';
import { CostView } from './cost-view.tsx';
import { DatabasePlanView } from './database-plan-view.tsx';
import type { ExplanationState } from './explanation-state.ts';
import { usePage } from './page-context.ts';
import { SqlView } from './sql-view.tsx';
import { TimingView } from './timing-view.tsx';
import { useExplanation } from './use-explanation.ts';

export interface ExplanationViewProps {
  readonly state: Extract<ExplanationState, { kind: 'explained' }>;
}

const explanationViews: Readonly<Record<string, ComponentType<ExplanationViewProps>>> = {
  SQL: SqlView,
  Plan: DatabasePlanView,
  Cost: CostView,
  Advice: AdviceView,
};

export function ResultTabs() {
  const { backend, lastExchange } = usePage();
  const [active, setActive] = useState('Response');
  const exchange = useSyncExternalStore(lastExchange.subscribe, lastExchange.get);
  const names = ['Response', ...(backend === null ? [] : Object.keys(explanationViews)), 'Timing'];
  const View = explanationViews[active];
  const { state, measure } = useExplanation(exchange, View !== undefined);
  const content =
    exchange === null ? (
      <p>Run the operation first.</p>
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
        {exchange !== null && (
          <span className="result-summary">
            {exchange.status} · {exchange.milliseconds.toFixed(0)} ms
          </span>
        )}
      </div>
      <section
        id="result-panel"
        className={active === 'Response' ? 'result-panel hidden' : 'result-panel'}
        aria-label={active}
        tabIndex={0}
      >
        {active !== 'Response' && content}
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
