/** The tables of the role in a list that can be searched, by mouse and keyboard. */
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { ApiTable } from '../read-tables.ts';

interface TableListProps {
  readonly tables: readonly ApiTable[];
  readonly chosen: string;
  readonly onChoose: (table: string) => void;
}

export function TableList({ tables, chosen, onChoose }: TableListProps) {
  const [search, setSearch] = useState('');
  const list = useRef<HTMLUListElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another table is to be seen in the list.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const found = tables.filter(({ type, collection }) =>
    [type, collection].some((name) => name.toLowerCase().includes(search.trim().toLowerCase())),
  );
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const next = buttons[at + (event.key === 'ArrowDown' ? 1 : -1)];
      if (next !== undefined) next.focus();
      else if (event.key === 'ArrowUp') event.currentTarget.querySelector('input')?.focus();
    } else if (event.key === 'Enter' && at < 0 && found[0] !== undefined) onChoose(found[0].type);
  };
  return (
    <nav className="table-list" aria-label="Tables" onKeyDown={onKeyDown}>
      <input
        type="search"
        aria-label="Find a table"
        placeholder={tables.length === 1 ? 'Find in 1 table' : `Find in ${tables.length} tables`}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <ul ref={list}>
        {found.map(({ type, description }) => (
          <li key={type}>
            <button
              type="button"
              aria-current={type === chosen ? 'true' : undefined}
              title={description ?? undefined}
              onClick={() => onChoose(type)}
            >
              {type}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="table-list-none">No table has “{search}” in its name.</p>}
    </nav>
  );
}
