/** What is asked about saved operations: a name, whether to remove one, and what to do if one was changed elsewhere. */
import { type FormEvent, useState } from 'react';
import type { KeptOperation, SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import { Modal } from './modal.tsx';
import type { OperationStore } from './operation-library.ts';

export type Question =
  | { readonly kind: 'name' }
  | { readonly kind: 'rename'; readonly operation: SavedOperation }
  | { readonly kind: 'remove'; readonly operation: SavedOperation }
  | { readonly kind: 'stale'; readonly name: string; readonly current: SavedOperation | null };

interface SavedQuestionProps {
  readonly question: Question;
  /** Those that are taken. */
  readonly names: readonly string[];
  /** A name for the open tab. */
  readonly suggested: string;
  readonly place: string;
  /** Saves the open tab in the place of a version. */
  readonly onWrite: (name: string, version: string | null) => void;
  /** Changes what is saved, and says `done`. */
  readonly onChange: (name: string, make: (store: OperationStore) => Promise<KeptOperation>, done: string) => void;
  readonly onOpen: (operation: SavedOperation) => void;
  readonly onClose: () => void;
}

export function SavedQuestion({ question, names, suggested, place, onWrite, onChange, onOpen, onClose }: SavedQuestionProps) {
  if (question.kind === 'name')
    return (
      <NameDialog title="Save the operation" initial={suggested} names={names} onName={(name) => onWrite(name, null)} onClose={onClose} />
    );
  if (question.kind === 'stale') {
    const { current } = question;
    const name = current?.name ?? question.name;
    const overwrite = (): void => onWrite(name, current?.version ?? null);
    return <StaleDialog name={name} current={current} onOverwrite={overwrite} onOpen={onOpen} onClose={onClose} />;
  }
  const { name, version } = question.operation;
  if (question.kind === 'remove') {
    const remove = (): void => onChange(name, (store) => store.remove(name, version), `Removed ${name}.`);
    return <RemoveDialog name={name} place={place} onRemove={remove} onClose={onClose} />;
  }
  const move = (to: string): void => {
    if (to === name) onClose();
    else onChange(name, (store) => store.move(name, to, version), `Renamed to ${to}.`);
  };
  return <NameDialog title={`Rename ${name}`} initial={name} names={names} mustBeFree onName={move} onClose={onClose} />;
}

interface NameDialogProps {
  readonly title: string;
  readonly initial: string;
  /** Those that are taken. */
  readonly names: readonly string[];
  /** Whether a name that is taken cannot be given, rather than asked about. */
  readonly mustBeFree?: boolean;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

function NameDialog({ title, initial, names, mustBeFree = false, onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(initial);
  const folders = [...new Set(names.flatMap((each) => (each.includes('/') ? [each.slice(0, each.lastIndexOf('/') + 1)] : [])))];
  const isTaken = mustBeFree && name.trim() !== initial && names.includes(name.trim());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isTaken) onName(name.trim());
  };
  return (
    <Modal title={title} onClose={onClose}>
      <form onSubmit={submit}>
        <label className="name-field">
          Name
          {/* biome-ignore lint/a11y/noAutofocus: the dialog is opened to write a name. */}
          <input autoFocus required value={name} list="saved-folders" spellCheck={false} onChange={({ target }) => setName(target.value)} />
        </label>
        <datalist id="saved-folders">
          {folders.map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
        {isTaken && (
          <p className="explain-error" role="alert">
            This name is taken.
          </p>
        )}
        <p className="field-hint">A slash makes folders: reports/Monthly.</p>
        <div className="dialog-buttons">
          <button type="button" className="page-button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="page-button primary">
            Save
          </button>
        </div>
      </form>
    </Modal>
  );
}

interface RemoveDialogProps {
  readonly name: string;
  readonly place: string;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}

function RemoveDialog({ name, place, onRemove, onClose }: RemoveDialogProps) {
  return (
    <Modal title={`Remove ${name}?`} onClose={onClose}>
      <p>It is saved {place}. Tabs that show it keep its text.</p>
      <div className="dialog-buttons">
        <button type="button" className="page-button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="page-button primary" onClick={onRemove}>
          Remove
        </button>
      </div>
    </Modal>
  );
}

interface StaleDialogProps {
  readonly name: string;
  /** What is there now; null if it was removed. */
  readonly current: SavedOperation | null;
  readonly onOverwrite: () => void;
  readonly onOpen: (current: SavedOperation) => void;
  readonly onClose: () => void;
}

function StaleDialog({ name, current, onOverwrite, onOpen, onClose }: StaleDialogProps) {
  return (
    <Modal title={current === null ? `${name} was removed elsewhere` : `${name} is there with another text`} onClose={onClose}>
      <p>
        {current === null
          ? 'Nothing was changed. Save what this tab has, or leave it removed.'
          : 'Another tab, an editor or somebody else wrote it. Nothing was changed.'}
      </p>
      {current !== null && <pre className="stale-text">{current.query}</pre>}
      <div className="dialog-buttons">
        <button type="button" className="page-button" onClick={onClose}>
          Cancel
        </button>
        {current !== null && (
          <button type="button" className="page-button" onClick={() => onOpen(current)}>
            Open that one in a tab
          </button>
        )}
        <button type="button" className="page-button primary" onClick={onOverwrite}>
          {current === null ? 'Save this one' : 'Overwrite it with this tab'}
        </button>
      </div>
    </Modal>
  );
}
