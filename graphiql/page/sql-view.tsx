/** The SQL that the last request was compiled to, with the values of its parameters. */
import { CodeBlock } from './code-block.tsx';
import type { ExplanationViewProps } from './result-tabs.tsx';

export function SqlView({ state: { explanation } }: ExplanationViewProps) {
  const { statements } = explanation;
  if (statements.length === 0) return <p>It needs no SQL.</p>;
  return (
    <>
      <p>
        {statements.length === 1 ? 'One statement' : `${statements.length} statements`} in one round trip, as {explanation.role}.
      </p>
      {statements.map(({ text, parameters }, index) => (
        <section key={index} className="statement">
          <CodeBlock text={text} />
          {parameters.length > 0 && (
            <dl className="parameters">
              {parameters.map((value, place) => (
                <div key={place}>
                  <dt>${place + 1}</dt>
                  <dd>{value ?? 'null'}</dd>
                </div>
              ))}
            </dl>
          )}
        </section>
      ))}
    </>
  );
}
