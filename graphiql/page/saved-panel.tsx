/** The panel of saved operations, in folders: a click opens one in a tab. */
import type { GraphiQLPlugin } from '@graphiql/react';
import type { SavedOperation } from '../../src/http/routes/graphiql-page.ts';
import { usePage } from './page-context.ts';
import { useSavedOperations } from './saved-operations.tsx';

export const savedPlugin: GraphiQLPlugin = { title: 'Saved', icon: () => null, content: SavedPanel };

function SavedPanel() {
  const { library } = usePage();
  const { operations, error, shown, isChanged, save, saveAs } = useSavedOperations();
  return (
    <section className="saved" aria-label="Saved operations">
      <h2 className="panel-title">Saved operations</h2>
      <p className="field-hint">Kept {library.store.place}.</p>
      <div className="saved-buttons">
        <button type="button" className="page-button" title="Ctrl-S" onClick={save}>
          {shown === null ? 'Save this tab' : `Save ${lastPart(shown)}`}
        </button>
        {shown !== null && (
          <button type="button" className="page-button" onClick={saveAs}>
            Save as …
          </button>
        )}
        {isChanged && <span className="saved-changed">not saved</span>}
      </div>
      {error !== null && (
        <p className="explain-error" role="alert">
          {error}
        </p>
      )}
      {operations === null && error === null && <p role="status">Reading …</p>}
      {operations?.length === 0 && (
        <p className="empty-state">Nothing is saved yet. Ctrl-S saves the open tab under a name, with its variables.</p>
      )}
      {operations !== null && <Folder operations={operations} above="" />}
    </section>
  );
}

interface FolderProps {
  readonly operations: readonly SavedOperation[];
  /** The path of the folder with a slash at its end; '' for the root. */
  readonly above: string;
}

function Folder({ operations, above }: FolderProps) {
  const inside = operations.filter(({ name }) => name.startsWith(above));
  const rest = (name: string): string => name.slice(above.length);
  const folders = [...new Set(inside.flatMap(({ name }) => (rest(name).includes('/') ? [rest(name).split('/')[0] ?? ''] : [])))];
  return (
    <ul className="saved-list">
      {folders.map((folder) => (
        <li key={`${folder}/`}>
          <details open>
            <summary>{folder}</summary>
            <Folder operations={inside} above={`${above}${folder}/`} />
          </details>
        </li>
      ))}
      {inside
        .filter(({ name }) => !rest(name).includes('/'))
        .map((operation) => (
          <Item key={operation.name} operation={operation} />
        ))}
    </ul>
  );
}

function Item({ operation }: { readonly operation: SavedOperation }) {
  const { shown, open, rename, remove } = useSavedOperations();
  const { name } = operation;
  return (
    <li className="saved-item">
      <button type="button" className="saved-name" aria-current={shown === name} title={name} onClick={() => open(operation)}>
        {lastPart(name)}
      </button>
      <IconButton label={`Rename ${name}`} icon="M4 20h4L19 9l-4-4L4 16zM13 7l4 4" onClick={() => rename(operation)} />
      <IconButton label={`Remove ${name}`} icon="M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13" onClick={() => remove(operation)} />
    </li>
  );
}

function IconButton({ label, icon, onClick }: { readonly label: string; readonly icon: string; readonly onClick: () => void }) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} onClick={onClick}>
      <svg className="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
        <path d={icon} />
      </svg>
    </button>
  );
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
