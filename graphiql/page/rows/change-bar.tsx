/** The changes that wait: how many, what each does, the GraphQL that does them all, and the buttons that undo and send. */
import { useState } from 'react';
import { roleOf } from '../page-caller.ts';
import { usePage } from '../page-context.ts';
import type { ApiTable } from '../read-tables.ts';
import { describeCell } from './cell-values.ts';
import { type Change, type Changes, countChanges, dropChange } from './changes.ts';
import type { TableChanges } from './pending-changes.ts';
import type { TableAbilities } from './table-abilities.ts';
import { type MutationAnswer, readOutcome, writeMutation } from './write-mutation.ts';

interface ChangeBarProps {
  readonly table: ApiTable;
  readonly abilities: TableAbilities;
  readonly pending: TableChanges;
  readonly onOpenQuery: (query: string, variables: string) => void;
  readonly onSent: () => void;
  /** What came of it, for everybody to see and hear. */
  readonly onSay: (text: string) => void;
}

export function ChangeBar({ table, abilities, pending, onOpenQuery, onSent, onSay }: ChangeBarProps) {
  const { ask, caller } = usePage();
  const [shown, setShown] = useState<'list' | 'graphql' | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [failure, setFailure] = useState<{ readonly message: string | null; readonly changes: Changes }>({ message: null, changes: [] });
  const { changes } = pending;
  if (changes.length === 0) return null;
  const role = roleOf(caller) ?? 'this caller';
  const written = writeMutation(table, abilities, changes);
  const send = async (): Promise<void> => {
    setIsSending(true);
    const answer = await ask({ query: written.text });
    setIsSending(false);
    const { done, problems, message } = readOutcome(written, answer as MutationAnswer, role);
    pending.settle(done, problems);
    setFailure({ message, changes });
    if (done.length > 0) {
      onSay(sentence(done));
      onSent();
    }
  };
  const toggle = (part: 'list' | 'graphql'): void => setShown(shown === part ? null : part);
  const count = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  return (
    <section className="change-bar" aria-label="Changes to send">
      {shown === 'list' && <ChangeList table={table} abilities={abilities} pending={pending} />}
      {shown === 'graphql' && (
        <div className="change-graphql">
          <pre tabIndex={0}>{written.text}</pre>
          <button type="button" className="page-button" onClick={() => onOpenQuery(written.text, '')}>
            Open in the editor
          </button>
        </div>
      )}
      {failure.message !== null && failure.changes === changes && (
        <p className="change-problem" role="alert">
          {failure.message}
        </p>
      )}
      <div className="change-buttons">
        <button type="button" className="change-count" aria-expanded={shown === 'list'} onClick={() => toggle('list')}>
          <strong>{count}</strong> <span>{countChanges(changes, verbs)}</span>
        </button>
        <button type="button" className="page-button" aria-expanded={shown === 'graphql'} onClick={() => toggle('graphql')}>
          {shown === 'graphql' ? 'Hide GraphQL' : 'Show GraphQL'}
        </button>
        <button type="button" className="page-button" disabled={pending.past.length === 0} title="Ctrl-Z" onClick={pending.undo}>
          Undo
        </button>
        <button type="button" className="page-button" onClick={() => pending.change(() => [])}>
          Discard all
        </button>
        <button type="button" className="page-button primary" disabled={isSending} onClick={() => void send()}>
          {isSending ? 'Sending …' : `Send as ${role}`}
        </button>
      </div>
    </section>
  );
}

const verbs = { insert: ['insert', 'inserts'], update: ['update', 'updates'], delete: ['delete', 'deletes'] } as const;
const results = {
  insert: ['row inserted', 'rows inserted'],
  update: ['row updated', 'rows updated'],
  delete: ['row deleted', 'rows deleted'],
} as const;

function sentence(changes: Changes): string {
  return `${countChanges(changes, results)}.`;
}

function ChangeList({ table, abilities, pending }: Pick<ChangeBarProps, 'table' | 'abilities' | 'pending'>) {
  return (
    <ul className="change-list">
      {pending.changes.map((change) => {
        const problem = pending.problems.get(change.id);
        return (
          <li key={change.id} className={`change-${change.kind}`}>
            <span className="change-kind">{change.kind}</span>
            <span className="change-text">
              {nameOf(table, abilities, change)}
              {change.kind !== 'delete' &&
                Object.entries(change.values).map(([name, value]) => (
                  <span key={name} className="change-value">
                    {name} {change.kind === 'update' && <del>{describeCell(change.row[name])}</del>} <ins>{describeCell(value)}</ins>
                  </span>
                ))}
              {problem !== undefined && <span className="change-problem">{problem.message}</span>}
            </span>
            <button
              type="button"
              className="page-button"
              aria-label={`Undo this ${change.kind}`}
              onClick={() => pending.change((changes) => dropChange(changes, change.id))}
            >
              Undo
            </button>
          </li>
        );
      })}
    </ul>
  );
}

function nameOf({ type }: ApiTable, { identity }: TableAbilities, change: Change): string {
  if (change.kind === 'insert') return `${type}${Object.keys(change.values).length === 0 ? ' with defaults' : ''}`;
  const key = identity.key.length > 0 ? identity.key : identity.field === null ? [] : [identity.field];
  return `${type} ${key.map((name) => describeCell(change.row[name])).join(', ')}`;
}
