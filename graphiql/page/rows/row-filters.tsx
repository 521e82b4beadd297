/** The filters of the grid: a column, an operator and a value each. A filter that the server refuses says why, and can be mended. */
import { useState } from 'react';
import type { ApiColumn, ApiTable } from '../read-tables.ts';
import { type RowsFilter, readFilterValue, takesList } from './rows-query.ts';
import type { TableAbilities } from './table-abilities.ts';
import type { RowsError } from './use-rows.ts';

interface RowFiltersProps {
  readonly table: ApiTable;
  readonly filters: readonly RowsFilter[];
  readonly abilities: TableAbilities;
  readonly error: RowsError | null;
  readonly onChange: (filters: readonly RowsFilter[]) => void;
}

const empty = { column: '', operator: '', value: '' };

export function RowFilters({ table, filters, abilities, error, onChange }: RowFiltersProps) {
  const [draft, setDraft] = useState<RowsFilter>(empty);
  const [problem, setProblem] = useState<string | null>(null);
  const wrong = error === null ? null : findWrong(filters, error);
  const without = (index: number): readonly RowsFilter[] => filters.filter((_, place) => place !== index);
  const mend = (index: number): void => {
    setDraft(filters[index] ?? empty);
    onChange(without(index));
  };
  const names = Object.keys(abilities.operators);
  if (names.length === 0) return null;
  const column = names.includes(draft.column) ? draft.column : names[0]!;
  const operators = abilities.operators[column] ?? [];
  const operator = operators.includes(draft.operator) ? draft.operator : (operators[0] ?? '');
  const apiColumn = table.columns.find(({ name }) => name === column);
  const change = (changed: Partial<RowsFilter>): void => {
    setProblem(null);
    setDraft({ column, operator, value: draft.value, ...changed });
  };
  // An empty text is a value too.
  const isText = apiColumn?.leaf === 'String' && !apiColumn.isList && ['eq', 'neq'].includes(operator);
  const choices = choicesOf(operator, apiColumn);
  const value = choices === null || choices.includes(draft.value) ? draft.value : (choices[0] ?? '');
  const add = (): void => {
    const filter = { column, operator, value };
    const { problem: found } = readFilterValue(filter, apiColumn);
    setProblem(found);
    if (found !== null) return;
    onChange([...filters, filter]);
    setDraft({ column, operator, value: '' });
  };
  return (
    <form
      className="row-filters"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      {filters.map((filter, index) => (
        <span key={index} className={`row-filter${index === wrong ? ' wrong' : ''}`}>
          <button type="button" aria-label={`Change the filter ${describe(filter)}`} onClick={() => mend(index)}>
            {describe(filter)}
          </button>
          <button type="button" aria-label={`Remove the filter ${describe(filter)}`} onClick={() => onChange(without(index))}>
            <span aria-hidden="true">×</span>
          </button>
        </span>
      ))}
      <select aria-label="Column to filter by" value={column} onChange={({ target }) => change({ column: target.value, value: '' })}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select aria-label="Operator" value={operator} onChange={({ target }) => change({ operator: target.value })}>
        {operators.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {choices === null ? (
        <input
          aria-label="Value"
          aria-invalid={problem !== null}
          placeholder={
            takesList(operator, apiColumn) ? 'one, two, …' : (placeholders[operator] ?? (apiColumn?.leaf.toLowerCase() || 'value'))
          }
          value={value}
          onChange={({ target }) => change({ value: target.value })}
        />
      ) : (
        <select aria-label="Value" value={value} onChange={({ target }) => change({ value: target.value })}>
          {choices.map((label) => (
            <option key={label}>{label}</option>
          ))}
        </select>
      )}
      <button type="submit" className="page-button" disabled={value.trim() === '' && !isText}>
        Filter
      </button>
      {(problem ?? error) !== null && (
        <p className="row-filter-problem" role="alert">
          {problem ?? describeError(error!, wrong === null ? undefined : filters[wrong])}
        </p>
      )}
    </form>
  );
}

/** PostgreSQL says which value it could not read, not where that was; otherwise it is the filter that came last. */
function findWrong(filters: readonly RowsFilter[], { filter, message, isOfValue }: RowsError): number | null {
  if (filter !== null || !isOfValue || filters.length === 0) return filter;
  const quoted = filters.findIndex(({ value }) => message.includes(`"${value}"`));
  return quoted < 0 ? filters.length - 1 : quoted;
}

function describe({ column, operator, value }: RowsFilter): string {
  return `${column} ${operator} ${value === '' ? '""' : value}`;
}

/** The grid still shows the rows of before. */
function describeError({ message }: RowsError, filter: RowsFilter | undefined): string {
  return filter === undefined ? message : `The filter “${describe(filter)}” does not apply: ${message}`;
}

const placeholders: Readonly<Record<string, string>> = {
  ilike: '%part%',
  like: '%part%',
  regex: '^A.*z$',
  iregex: '^a.*z$',
};

/** The only values that there are; null if there are any others. */
function choicesOf(operator: string, column: ApiColumn | undefined): readonly string[] | null {
  if (operator === 'is') return ['null', 'not null'];
  if (column === undefined || takesList(operator, column)) return null;
  return column.leaf === 'Boolean' ? ['true', 'false'] : column.labels;
}
