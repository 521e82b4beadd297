/** The filters of the grid: a column, an operator and a value each. A filter applies once it has a value. */
import { useState } from 'react';
import type { RowsAbilities, RowsFilter } from './rows-query.ts';

interface RowFiltersProps {
  readonly filters: readonly RowsFilter[];
  readonly abilities: RowsAbilities;
  readonly onChange: (filters: readonly RowsFilter[]) => void;
}

export function RowFilters({ filters, abilities, onChange }: RowFiltersProps) {
  const columns = Object.keys(abilities.operators);
  const [column, setColumn] = useState(columns[0] ?? '');
  const operators = abilities.operators[column] ?? [];
  const [chosen, setOperator] = useState('');
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? '');
  const [value, setValue] = useState('');
  return (
    <form
      className="view-bar"
      onSubmit={(event) => {
        event.preventDefault();
        onChange([...filters, { column, operator, value }]);
        setValue('');
      }}
    >
      {filters.map((filter, index) => (
        <button
          key={index}
          type="button"
          className="page-button filter"
          onClick={() => onChange(filters.filter((_, place) => place !== index))}
        >
          {filter.column} {filter.operator} {filter.value} <span aria-hidden="true">×</span>
          <span className="visually-hidden">remove this filter</span>
        </button>
      ))}
      <select aria-label="Column to filter by" value={column} onChange={({ target }) => setColumn(target.value)}>
        {columns.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select aria-label="Operator" value={operator} onChange={({ target }) => setOperator(target.value)}>
        {operators.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <input
        aria-label="Value"
        placeholder={placeholders[operator] ?? 'value'}
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <button type="submit" className="page-button" disabled={value.trim() === ''}>
        Filter
      </button>
    </form>
  );
}

const placeholders: Readonly<Record<string, string>> = { ilike: '%part%', like: '%part%', is: 'null, not null' };
