/** The answers to the operation in the editor that two callers get, as one text: what only one of them gets is marked. */
import { useGraphiQL } from '@graphiql/react';
import { Kind, parse } from 'graphql';
import { useMemo, useState } from 'react';
import { type AnswerComparison, type AnswerLine, compareAnswers } from './compare-answers.ts';
import type { EditorOperation } from './read-as.ts';
import { useAsked } from './use-asked.ts';
import type { Pair } from './use-pair.ts';

export function AnswerComparisonView({ pair }: { readonly pair: Pair }) {
  const query = useGraphiQL((state) => state.queryEditor?.getValue() ?? '');
  const variables = useGraphiQL((state) => state.variableEditor?.getValue() ?? '');
  const chosen = useGraphiQL((state) => state.operationName);
  const names = useMemo(() => listQueries(query), [query]);
  const [picked, setPicked] = useState<string | undefined>(chosen ?? undefined);
  const name = names.includes(picked ?? '') ? picked : names[0] || undefined;
  const question = JSON.stringify([query, variables, name, pair.one, pair.other]);
  const isEmpty = query.trim() === '';
  const asked = useAsked(question, pair.reader, isEmpty ? null : () => compare(pair, { query, variables, name }));
  const { answer: comparison, error } = asked;
  if (isEmpty) return <p className="part-notice">The editor is empty: write a query there, and come back.</p>;
  return (
    <>
      {names.length > 1 && (
        <label className="only-differences">
          Operation{' '}
          <select className="page-button" value={name} onChange={({ target }) => setPicked(target.value)}>
            {names.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      {error !== undefined && <p className="part-notice explain-error">{error}</p>}
      {error === undefined && comparison === undefined && (
        <p className="part-notice" role="status">
          Asking as both …
        </p>
      )}
      {comparison !== undefined && <Answer comparison={comparison} names={pair.names} />}
    </>
  );
}

/** The names of the operations in a document; '' for one without. */
function listQueries(query: string): readonly string[] {
  try {
    return parse(query).definitions.flatMap((each) => (each.kind === Kind.OPERATION_DEFINITION ? [each.name?.value ?? ''] : []));
  } catch {
    return [];
  }
}

async function compare({ reader, one, other }: Pair, operation: EditorOperation): Promise<AnswerComparison> {
  return compareAnswers(...(await Promise.all([reader.readAnswer(one, operation), reader.readAnswer(other, operation)])));
}

interface AnswerProps {
  readonly comparison: AnswerComparison;
  readonly names: Pair['names'];
}

function Answer({ comparison: { lines, counts }, names }: AnswerProps) {
  const isSame = lines.every(({ seenBy }) => seenBy === 'both');
  return (
    <>
      <div className="comparison-summary" role="status">
        <ul>
          <li className="both">
            <strong>{counts.both}</strong> rows both get
          </li>
          <li className="one">
            <strong>{counts.one}</strong> only {names.one} gets
          </li>
          <li className="other">
            <strong>{counts.other}</strong> only {names.other} gets
          </li>
        </ul>
        {isSame && <p className="muted">Both get the same answer.</p>}
      </div>
      <section className="answer-lines" aria-label="The answers of both callers" tabIndex={0}>
        {lines.map((line, place) => (
          <Line key={place} line={line} before={lines[place - 1]?.seenBy} names={names} />
        ))}
      </section>
    </>
  );
}

interface LineProps {
  readonly line: AnswerLine;
  /** Who got the line before: a run of lines is named once. */
  readonly before: AnswerLine['seenBy'] | undefined;
  readonly names: Pair['names'];
}

function Line({ line: { depth, text, seenBy }, before, names }: LineProps) {
  return (
    <div className={`answer-line seen ${seenBy}`}>
      <span className="answer-who">{seenBy !== 'both' && seenBy !== before && `only ${names[seenBy]}`}</span>
      <code style={{ paddingInlineStart: `${depth * 2}ch` }}>{text}</code>
    </div>
  );
}
