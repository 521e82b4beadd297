/** Tables in a list that can be searched, by mouse and keyboard. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';

export interface ListedTable {
  readonly name: string;
  /** Another name that it is found by. */
  readonly alias: string | null;
  readonly description?: string | null;
  /** Stands beside the name. */
  readonly mark?: ReactNode;
}

interface TableListProps {
  readonly tables: readonly ListedTable[];
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
  /** What can be chosen beside tables, by the name ''. */
  readonly other?: string;
}

export function TableList({ tables, chosen, onChoose, other }: TableListProps) {
  const [search, setSearch] = useState('');
  const list = useRef<HTMLUListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another table is to be seen in the list.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const wanted = search.trim().toLowerCase();
  const found = tables.filter(({ name, alias }) => `${name} ${alias ?? ''}`.toLowerCase().includes(wanted));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const next = buttons[at + (event.key === 'ArrowDown' ? 1 : -1)];
      if (next !== undefined) next.focus();
      else if (event.key === 'ArrowUp') event.currentTarget.querySelector('input')?.focus();
    } else if (event.key === 'Enter' && at < 0 && found[0] !== undefined) onChoose(found[0].name);
  };
  const item = (name: string, label: string, description: string | null, mark: ReactNode) => (
    <button
      type="button"
      aria-current={name === chosen ? 'true' : undefined}
      title={description ?? undefined}
      onClick={() => onChoose(name)}
    >
      <span>{label}</span>
      {mark}
    </button>
  );
  return (
    <nav className="table-list" aria-label="Tables" onKeyDown={onKeyDown}>
      <input
        type="search"
        aria-label="Find a table"
        placeholder={tables.length === 1 ? 'Find 1 table' : `Find one of ${tables.length} tables`}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <ul ref={list}>
        {other !== undefined && <li className="table-list-other">{item('', other, null, null)}</li>}
        {found.map(({ name, description = null, mark = null }) => (
          <li key={name}>{item(name, name, description, mark)}</li>
        ))}
      </ul>
      {found.length === 0 && <p className="table-list-none">No table has “{search}” in its name.</p>}
    </nav>
  );
}
