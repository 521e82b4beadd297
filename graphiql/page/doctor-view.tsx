/** What the doctor finds for the caller's role: what its API lacks, and what is dangerous or slow, each with its remedy. */
import { useEffect, useState } from 'react';
import type { DoctorReport } from '../../src/doctor/finding-codes.ts';
import { CodeBlock } from './code-block.tsx';
import { roleOf } from './page-caller.ts';
import { usePage } from './page-context.ts';

type Answer = { readonly role: string; readonly report: DoctorReport } | { readonly role: string; readonly error: string };

export function DoctorView() {
  const { backend, caller } = usePage();
  const role = roleOf(caller) ?? 'anon';
  const [answer, setAnswer] = useState<Answer | null>(null);
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
  }, [backend, role]);
  if (answer === null || answer.role !== role) return <p role="status">Examining …</p>;
  if ('error' in answer) return <p className="explain-error">{answer.error}</p>;
  return <Report report={answer.report} />;
}

function Report({ report: { role, summary, findings } }: { readonly report: DoctorReport }) {
  return (
    <section className="doctor" aria-label="Report of the doctor" tabIndex={0}>
      <h2>Findings of the doctor for {role}</h2>
      <p>
        {count(summary.error, 'error')}, {count(summary.warning, 'warning')}, {count(summary.info, 'note')}
      </p>
      {findings.map(({ severity, code, object, name, message, remedy }) => (
        <article key={`${code} ${object} ${name}`} className="finding">
          <h3>
            <span className={`severity ${severity}`}>{severity}</span> {object} {name} <small>{code}</small>
          </h3>
          <p>{message}</p>
          {remedy !== null && <CodeBlock text={remedy} />}
        </article>
      ))}
    </section>
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
