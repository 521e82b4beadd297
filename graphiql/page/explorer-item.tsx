/**
 * A line of the explorer's tree: a button that opens it, whether the operation contains it, its name and type, and the value of an argument
 * without input fields.
 */
import { type GraphQLInputType, getNamedType, isEnumType, isInputObjectType, type ValueNode } from 'graphql';
import { useState } from 'react';
import type { ExplorerLine } from './list-explorer-lines.ts';
import { describeValue, readValue } from './read-value.ts';

interface ExplorerItemProps {
  readonly line: ExplorerLine;
  /** Whether Tab leads to this item. */
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onValue: (value: ValueNode) => void;
}

export function ExplorerItem({ line, isCurrent, onFocus, onToggle, onOpen, onValue }: ExplorerItemProps) {
  const { level, place, count, isChecked, isOpen, name, type, description } = line;
  const hasValue = line.kind === 'argument' && line.value !== null && !isInputObjectType(getNamedType(line.inputType));
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all its items.
    <div
      role="treeitem"
      className={`explorer-item ${line.kind}`}
      style={{ paddingLeft: (level - 1) * 16 }}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={count}
      aria-checked={isChecked}
      aria-expanded={isOpen ?? undefined}
      tabIndex={isCurrent ? 0 : -1}
      data-name={name}
      title={description}
      onFocus={onFocus}
      onClick={onToggle}
    >
      <span
        className="explorer-arrow"
        aria-hidden="true"
        onClick={(event) => {
          if (isOpen === null) return;
          event.stopPropagation();
          onOpen(!isOpen);
        }}
      >
        {isOpen === null ? '' : isOpen ? '▾' : '▸'}
      </span>
      <span className={isChecked ? 'explorer-check checked' : 'explorer-check'} aria-hidden="true" />
      {line.kind === 'argument' && <span className="visually-hidden">argument </span>}
      <span className="explorer-name">{name}</span>
      {hasValue ? (
        <Value name={name} type={line.inputType} value={line.value} isReached={isCurrent} onValue={onValue} />
      ) : (
        <span className="explorer-type">{type}</span>
      )}
    </div>
  );
}

interface ValueProps {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly value: ValueNode;
  readonly isReached: boolean;
  readonly onValue: (value: ValueNode) => void;
}

/** Takes the text as soon as it is a value of the type. */
function Value({ name, type, value, isReached, onValue }: ValueProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const named = getNamedType(type);
  const change = (text: string): void => {
    const read = readValue(text, type);
    setTyped(text);
    if (read !== null) onValue(read);
  };
  const shared = {
    'aria-label': `Value of ${name}`,
    tabIndex: isReached ? 0 : -1,
    onClick: (event: React.MouseEvent) => event.stopPropagation(),
  };
  if (isEnumType(named) && value.kind === 'EnumValue')
    return (
      <select {...shared} value={value.value} onChange={({ target }) => change(target.value)}>
        {named.getValues().map((each) => (
          <option key={each.name}>{each.name}</option>
        ))}
      </select>
    );
  return (
    <input
      {...shared}
      value={typed ?? describeValue(value)}
      aria-invalid={typed !== null && readValue(typed, type) === null}
      onChange={({ target }) => change(target.value)}
      onBlur={() => setTyped(null)}
    />
  );
}
