/** Opens a value that a cell has no room for, JSON, lists and long texts: to read it, and to edit it if the role may. */
import { useState } from 'react';
import { Modal } from '../modal.tsx';
import type { CellEditorProps } from './cell-editor.tsx';
import { indentJson, readCell, writeCell } from './cell-values.ts';

interface CellDialogProps extends Pick<CellEditorProps, 'column' | 'value' | 'hasDefault' | 'onCancel'> {
  readonly title: string;
  /** Null if it cannot be edited. */
  readonly onKeep: CellEditorProps['onKeep'] | null;
}

export function CellDialog({ title, column, value, onKeep, hasDefault, onCancel }: CellDialogProps) {
  const [text, setText] = useState(() => writeCell(value, column));
  const [problem, setProblem] = useState<string | null>(null);
  const [isCopied, setIsCopied] = useState(false);
  const keep = (): void => {
    if (text === writeCell(value, column) && value !== null && value !== undefined) return onCancel();
    const read = readCell(text, column);
    if (read.problem !== null) return setProblem(read.problem);
    onKeep?.(read.value, 'stay');
  };
  const indent = (): void => {
    const { problem: found } = readCell(text, column);
    setProblem(found);
    if (found === null) setText(indentJson(text));
  };
  return (
    <Modal title={title} onClose={onCancel}>
      <form
        className="cell-dialog"
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <p className="cell-dialog-type">
          {column.type}
          {value === null && ', null'}
          {value === undefined && ', left to its default'}
          {column.labels !== null && `: ${column.labels.join(', ')}`}
        </p>
        <textarea
          aria-label={column.name}
          aria-invalid={problem !== null}
          readOnly={onKeep === null}
          spellCheck={false}
          rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
          placeholder={column.isList ? '["one", "two"]' : column.leaf === 'JSON' ? '{}' : ''}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setProblem(null);
          }}
          onKeyDown={({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey) && keep()}
        />
        {problem !== null && (
          <p className="cell-dialog-problem" role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-buttons">
          <button type="button" className="page-button" onClick={() => void copy(text).then(setIsCopied)}>
            {isCopied ? 'Copied' : 'Copy'}
          </button>
          {onKeep !== null && column.leaf === 'JSON' && (
            <button type="button" className="page-button" onClick={indent}>
              Indent
            </button>
          )}
          {onKeep !== null && hasDefault && (
            <button type="button" className="page-button" onClick={() => onKeep(undefined, 'stay')}>
              Set to default
            </button>
          )}
          {onKeep !== null && !column.isRequired && (
            <button type="button" className="page-button" onClick={() => onKeep(null, 'stay')}>
              Set to null
            </button>
          )}
          <button type="button" className="page-button" onClick={onCancel}>
            {onKeep === null ? 'Close' : 'Cancel'}
          </button>
          {onKeep !== null && (
            <button type="submit" className="page-button primary">
              Keep
            </button>
          )}
        </div>
      </form>
    </Modal>
  );
}

async function copy(text: string): Promise<boolean> {
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
