/** Edits a value in its cell: enums and booleans by a menu, everything else as text that is checked before it is kept. */
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import type { ApiColumn } from '../read-tables.ts';
import { readCell, writeCell } from './cell-values.ts';

/** Where the focus goes after an edit. */
export type AfterEdit = 'stay' | 'down' | 'right' | 'left';

export interface CellEditorProps {
  readonly column: ApiColumn;
  /** Undefined is the default of a new row. */
  readonly value: unknown;
  /** What was typed to begin; null to edit the value. */
  readonly typed: string | null;
  /** Whether the column may be left to its default. */
  readonly hasDefault: boolean;
  readonly onKeep: (value: unknown, after: AfterEdit) => void;
  readonly onCancel: () => void;
}

export function CellEditor(props: CellEditorProps) {
  return props.column.labels !== null || props.column.leaf === 'Boolean' ? <ChoiceEditor {...props} /> : <TextEditor {...props} />;
}

/** Whether a value is edited in a dialog, because it has lines. */
export function needsDialog({ leaf, isList }: ApiColumn, value: unknown): boolean {
  return leaf === 'JSON' || isList || (typeof value === 'string' && (value.includes('\n') || value.length > longText));
}

/** In characters: what a cell has no room for. */
const longText = 60;

function afterKey({ key, shiftKey }: KeyboardEvent): AfterEdit | null {
  if (key === 'Enter') return 'down';
  return key === 'Tab' ? (shiftKey ? 'left' : 'right') : null;
}

/** The values of options that are no text of the column. */
const special = { none: '\u0000null', unset: '\u0000default', other: '\u0000other' };

function ChoiceEditor({ column, value, hasDefault, onKeep, onCancel }: CellEditorProps) {
  const options = column.labels ?? ['true', 'false'];
  const text = value === null ? special.none : value === undefined ? special.unset : String(value);
  const isOther = value !== null && value !== undefined && !options.includes(text);
  const [chosen, setChosen] = useState(isOther ? special.other : text);
  const keep = (from: string, after: AfterEdit): void => {
    if (from === special.other) onCancel();
    else if (from === special.none) onKeep(null, after);
    else onKeep(from === special.unset ? undefined : readCell(from, column).value, after);
  };
  return (
    <div className="cell-editor">
      <select
        // biome-ignore lint/a11y/noAutofocus: the user opened this editor.
        autoFocus
        aria-label={column.name}
        value={chosen}
        onChange={({ target }) => setChosen(target.value)}
        onBlur={() => keep(chosen, 'stay')}
        onKeyDown={(event) => {
          event.stopPropagation();
          const after = afterKey(event);
          if (after !== null) {
            event.preventDefault();
            keep(chosen, after);
          } else if (event.key === 'Escape') onCancel();
        }}
      >
        {hasDefault && <option value={special.unset}>default</option>}
        {isOther && <option value={special.other}>{text}</option>}
        {options.map((label) => (
          <option key={label} value={label}>
            {label}
          </option>
        ))}
        {(!column.isRequired || value === null) && <option value={special.none}>null</option>}
      </select>
      {isOther && <EnumHint type={column.leaf} label={text} />}
    </div>
  );
}

/** A label that GraphQL does not allow is read, but the API has no name for it. */
function EnumHint({ type, label }: { readonly type: string; readonly label: string }) {
  const mapping = JSON.stringify({ mappings: { [label]: label.replaceAll(/\W+/g, '_') } });
  return (
    <div className="cell-problem">
      “{label}” is not a name in GraphQL, so the API cannot write it. Give it one:{' '}
      <code>{`comment on type ${type} is '@graphql(${mapping.replaceAll("'", "''")})';`}</code>
    </div>
  );
}

function TextEditor({ column, value, typed, hasDefault, onKeep, onCancel }: CellEditorProps) {
  const [text, setText] = useState(typed ?? writeCell(value, column));
  const [problem, setProblem] = useState<string | null>(null);
  /** Until something is typed, null stays null: an empty text is another value. */
  const isTouched = useRef(typed !== null);
  const isOver = useRef(false);
  const problemId = useId();
  const end = (kept: unknown, after: AfterEdit): void => {
    isOver.current = true;
    onKeep(kept, after);
  };
  const cancel = (): void => {
    isOver.current = true;
    onCancel();
  };
  const keep = (after: AfterEdit): void => {
    if (!isTouched.current || (text === writeCell(value, column) && text !== '')) return end(value, after);
    const isNothing = text === '' && column.leaf !== 'String';
    if (isNothing && (!column.isRequired || hasDefault)) return end(hasDefault ? undefined : null, after);
    const read = readCell(text, column);
    if (read.problem === null) end(read.value, after);
    else setProblem(read.problem);
  };
  return (
    <div className="cell-editor">
      <input
        // biome-ignore lint/a11y/noAutofocus: the user opened this editor.
        autoFocus
        type={isPlainDate(column, text) ? 'date' : 'text'}
        inputMode={/Int|Float/.test(column.leaf) ? 'decimal' : undefined}
        aria-label={column.name}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : problemId}
        placeholder={hasDefault ? 'default' : (placeholders[column.leaf] ?? '')}
        value={text}
        onFocus={({ target }) => typed === null && target.type === 'text' && target.select()}
        onChange={({ target }) => {
          isTouched.current = true;
          setText(target.value);
          setProblem(null);
        }}
        onBlur={() => isOver.current || keep('stay')}
        onKeyDown={(event) => {
          event.stopPropagation();
          const after = afterKey(event);
          if (after !== null) {
            event.preventDefault();
            keep(after);
          } else if (event.key === 'Escape') cancel();
        }}
      />
      {hasDefault && value !== undefined && <SpecialButton name="default" onChoose={() => end(undefined, 'stay')} />}
      {!column.isRequired && value !== null && <SpecialButton name="null" onChoose={() => end(null, 'stay')} />}
      {column.leaf === 'String' && value !== '' && <SpecialButton name="empty" onChoose={() => end('', 'stay')} />}
      {problem !== null && (
        <div id={problemId} className="cell-problem" role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}

/** Of the text types, only dates have an input of their own that loses nothing: others have time zones, and parts of seconds. */
function isPlainDate({ leaf }: ApiColumn, text: string): boolean {
  return leaf === 'Date' && (text === '' || /^\d{4}-\d\d-\d\d$/.test(text));
}

const placeholders: Readonly<Record<string, string>> = { Time: '12:30:00', Datetime: '2026-01-31T12:30:00Z', UUID: '00000000-0000-…' };

/** It acts before the input loses the focus and keeps its text. The keyboard has Delete for it, outside of the editor. */
function SpecialButton({ name, onChoose }: { readonly name: string; readonly onChoose: () => void }) {
  return (
    <button
      type="button"
      className="cell-special"
      tabIndex={-1}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      aria-label={`Set to ${name}`}
    >
      {name}
    </button>
  );
}
