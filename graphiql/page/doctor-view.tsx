/** What the doctor finds for the caller's role: what its API lacks, and what is dangerous or slow, each with its remedy. */
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import type { DoctorReport, Severity } from '../../src/doctor/finding-codes.ts';
import { CodeBlock } from './code-block.tsx';
import { roleOf } from './page-caller.ts';
import { usePage } from './page-context.ts';

type Answer = { readonly role: string; readonly report: DoctorReport } | { readonly role: string; readonly error: string };

export function DoctorView() {
  const { backend, caller } = usePage();
  const role = roleOf(caller) ?? 'anon';
  const schema = useGraphiQL((state) => state.schema);
  const [answer, setAnswer] = useState<Answer | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new schema is examined anew.
  useEffect(() => {
    let isLate = false;
    const settle = (settled: Answer): void => {
      if (!isLate) setAnswer(settled);
    };
    backend?.examine(role).then(
      (report) => settle({ role, report }),
      (error: Error) => settle({ role, error: error.message }),
    );
    return () => {
      isLate = true;
    };
  }, [backend, role, schema]);
  if (answer === null || answer.role !== role) return <p role="status">Examining …</p>;
  if ('error' in answer) return <p className="explain-error">{answer.error}</p>;
  return <Report report={answer.report} />;
}

function Report({ report: { role, summary, findings } }: { readonly report: DoctorReport }) {
  return (
    <section className="doctor" aria-label="Report of the doctor" tabIndex={0}>
      <h2>Findings of the doctor for {role}</h2>
      <p>{describeCounts(summary)}</p>
      {summary.info > 0 && (
        <p className="field-hint">
          Notes say what {role} does not see or do, and why. Often that is as you want it: then there is nothing to do.
        </p>
      )}
      {findings.map(({ severity, code, object, name, message, remedy }) => (
        <article key={`${code} ${object} ${name}`} className="finding">
          <h3>
            <span className={`severity ${severity}`}>{nouns[severity]}</span> {object} {name} <small>{code}</small>
          </h3>
          <p>{message}</p>
          {remedy !== null && <CodeBlock text={remedy} />}
        </article>
      ))}
    </section>
  );
}

const nouns = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Severity, string>;

function describeCounts(summary: Readonly<Record<Severity, number>>): string {
  const counts = (['error', 'warning', 'info'] as const).filter((severity) => summary[severity] > 0);
  const texts = counts.map((severity) => `${summary[severity]} ${nouns[severity]}${summary[severity] === 1 ? '' : 's'}`);
  return texts.join(', ') || 'Nothing to report.';
}
