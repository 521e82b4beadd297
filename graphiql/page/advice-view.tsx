/** What would make the last operation faster, with the SQL for it; what of it only lenient coercion accepts; and what each of its fields reads, writes or calls. */
import type { PlanTree } from '../../src/explain/explanation.ts';
import { CodeBlock } from './code-block.tsx';
import type { ExplanationViewProps } from './result-tabs.tsx';

export function AdviceView({ state: { explanation } }: ExplanationViewProps) {
  const { advice, mismatches, plan } = explanation;
  return (
    <>
      {advice.length === 0 && <p>There is no advice for this operation.</p>}
      {advice.map(({ code, table, message, sql }) => (
        <article key={`${code} ${table} ${sql}`} className="advice">
          <h2>
            {table} <small>{code}</small>
          </h2>
          <p>{message}</p>
          <CodeBlock text={sql} />
        </article>
      ))}
      {mismatches.length > 0 && (
        <>
          <h2>What strict coercion would refuse</h2>
          <ul>
            {mismatches.map((mismatch) => (
              <li key={mismatch}>{mismatch}</li>
            ))}
          </ul>
        </>
      )}
      {plan !== null && (
        <>
          <h2>What each field does</h2>
          <Tree trees={plan} />
        </>
      )}
    </>
  );
}

function Tree({ trees }: { readonly trees: readonly PlanTree[] }) {
  return (
    <ul className="plan-tree">
      {trees.map(({ label, children }) => (
        <li key={label}>
          <div className="plan-node">{label}</div>
          {children.length > 0 && <Tree trees={children} />}
        </li>
      ))}
    </ul>
  );
}
