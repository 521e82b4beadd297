/** PostgreSQL's plan as a tree: what each node does, how many rows it returns, and where the time goes. */
import type { DatabasePlan, DatabasePlanNode } from '../../src/explain/explanation.ts';
import { ownMilliseconds } from './read-times.ts';
import type { ExplanationViewProps } from './result-tabs.tsx';

export function DatabasePlanView({ state: { explanation } }: ExplanationViewProps) {
  const plans = explanation.statements.flatMap(({ databasePlan }) => (databasePlan === null ? [] : [databasePlan]));
  if (plans.length === 0) return <p>PostgreSQL has no work to do for it.</p>;
  return plans.map((plan, index) => <Plan key={index} plan={plan} />);
}

function Plan({ plan: { root, planningMillis, executionMillis } }: { readonly plan: DatabasePlan }) {
  return (
    <section className="database-plan">
      {executionMillis !== null && (
        <p>
          {format(planningMillis ?? 0)} ms to plan, {format(executionMillis)} ms to run, in a transaction that was rolled back.
        </p>
      )}
      <ul className="plan-tree">
        <PlanNode node={root} total={root.actual === null ? null : root.actual.milliseconds * root.actual.loops} />
      </ul>
    </section>
  );
}

interface PlanNodeProps {
  readonly node: DatabasePlanNode;
  /** Duration of the whole plan; null if it did not run. */
  readonly total: number | null;
}

function PlanNode({ node, total }: PlanNodeProps) {
  const { actual, children, conditions, sortKeys } = node;
  const own = ownMilliseconds(node);
  return (
    <li>
      <div className="plan-node">
        <strong>{node.type}</strong>
        {describeTarget(node)}
        <span className="plan-rows">{describeRows(node)}</span>
        {actual !== null && total !== null && (
          <span className="plan-time">
            <meter aria-label="Share of the time" min={0} max={1} value={total === 0 ? 0 : own / total} /> {format(own)} ms
          </span>
        )}
      </div>
      {(conditions.length > 0 || sortKeys.length > 0) && (
        <ul className="plan-conditions">
          {conditions.map(({ kind, text }) => (
            <li key={kind + text}>
              {kind}: <code>{text}</code>
            </li>
          ))}
          {sortKeys.length > 0 && (
            <li>
              Sort: <code>{sortKeys.join(', ')}</code>
            </li>
          )}
        </ul>
      )}
      {children.length > 0 && (
        <ul>
          {children.map((child, index) => (
            <PlanNode key={index} node={child} total={total} />
          ))}
        </ul>
      )}
    </li>
  );
}

function describeTarget({ table, index, function: called, name }: DatabasePlanNode): string {
  const on = table === null ? '' : ` on ${table.schema === 'public' ? '' : `${table.schema}.`}${table.name}`;
  return `${on}${index === null ? '' : ` by ${index}`}${called === null ? '' : ` ${called}()`}${name === null ? '' : ` (${name})`}`;
}

function describeRows({ estimate, actual }: DatabasePlanNode): string {
  if (actual === null) return `${countRows(estimate.rows)} expected`;
  const loops = actual.loops > 1 ? ` × ${format(actual.loops)}` : '';
  const removed = actual.removed > 0 ? `, ${format(actual.removed)} left out` : '';
  return actual.loops === 0 ? 'never run' : `${countRows(actual.rows)}${loops} (${format(estimate.rows)} expected)${removed}`;
}

function countRows(count: number): string {
  return count === 1 ? '1 row' : `${format(count)} rows`;
}

const numbers = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : numbers.format(value);
}
