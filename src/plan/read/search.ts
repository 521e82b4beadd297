/** Plans full-text searches, and what rows show of the one that found them. */
import { ApiError } from '../../errors/api-error.ts';
import type { Table } from '../../model/model.ts';
import { bindingAt, type InputValue, type SelectedField, valueAt } from '../../request/operation.ts';
import type { Search } from '../conditions.ts';
import { countOf, objectOf, parameterValue } from '../inputs.ts';
import type { Parameter } from '../parameter.ts';
import type { SnippetPlan } from '../plan.ts';

const modes = { WEBSEARCH: 'websearch', PLAIN: 'plain', PHRASE: 'phrase', PREFIX: 'prefix', SIMILAR: 'similar' } as const satisfies Record<
  string,
  Search['mode']
>;

/** Plans a search; null for null, which finds all. Throws BAD_USER_INPUT. */
export function planSearch(value: InputValue, { search }: Table): Search | null {
  if (value === null || search === null) return null;
  let text: InputValue = null;
  let mode: Search['mode'] = 'websearch';
  let { config } = search;
  for (const entry of objectOf(value).entries) {
    if (entry.value === null) continue;
    const binding = bindingAt('search', entry);
    if (binding.kind === 'text') text = entry.value;
    else if (!('configs' in binding)) mode = modeOf(entry.value);
    else if (entry.value.kind === 'choice') config = binding.configs.get(entry.value.name) ?? config;
  }
  if (text === null) throw new ApiError('BAD_USER_INPUT', 'A search needs a "text". Leave out the search to find everything.');
  if (mode === 'similar' && search.shown.length === 0) {
    throw new ApiError('BAD_USER_INPUT', 'No text of this table can be compared with another. Use another mode of search.');
  }
  const encoding = { kind: 'search', asPrefixes: mode === 'prefix' } as const;
  return { by: search, mode, config, text: { value: parameterValue(text), encoding } };
}

function modeOf(value: InputValue): Search['mode'] {
  const mode = value?.kind === 'choice' && Object.hasOwn(modes, value.name) ? modes[value.name as keyof typeof modes] : undefined;
  if (mode === undefined) throw new ApiError('BAD_USER_INPUT', `The mode of a search is one of ${Object.keys(modes).join(', ')}.`);
  return mode;
}

const mostWords = 1000;

export function planSnippet(field: SelectedField, search: Search | null): SnippetPlan {
  const mark = (kind: 'start' | 'stop'): Parameter | null => {
    const value = valueAt(field.arguments, 'snippet', kind);
    return value && { value: parameterValue(value), encoding: { kind: 'mark', argument: kind } };
  };
  const words = valueAt(field.arguments, 'snippet', 'words');
  return {
    kind: 'search snippet',
    search,
    column: columnOf(field),
    start: mark('start'),
    stop: mark('stop'),
    words: words && countOf(words, 'words', mostWords),
  };
}

function columnOf(field: SelectedField): SnippetPlan['column'] {
  for (const argument of field.arguments) {
    const { value } = argument;
    const binding = bindingAt('snippet', argument);
    const column = binding.kind === 'columns' && value?.kind === 'choice' ? binding.columns.get(value.name) : undefined;
    if (column !== undefined) return column;
  }
  throw new ApiError('BAD_USER_INPUT', 'A snippet needs the "column" that it shows.');
}
