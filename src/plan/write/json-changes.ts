/** Plans changes of parts of JSON columns: the argument `json` of updates. */
import { ApiError, quote } from '../../errors/api-error.ts';
import type { Column } from '../../model/model.ts';
import { namedTypes } from '../../model/types/named-types.ts';
import { bindingAt, type InputEntry, type InputValue, valueAt } from '../../request/operation.ts';
import { checkGivenOnce, isUnsent, listOf, objectOf, pathParameter, valueParameter, writtenValue } from '../inputs.ts';
import type { Parameter } from '../parameter.ts';
import type { JsonChange, JsonParts } from '../plan.ts';

/** Each is a subquery around the previous one, and PostgreSQL plans them together. */
const mostChanges = 50;

/** Plans the changes, skipping nulls. `set` are the columns that the argument `set` sets. Throws BAD_USER_INPUT and QUERY_TOO_COMPLEX. */
export function planJsonChanges(value: InputValue, set: readonly Column[]): readonly JsonChange[] {
  if (value?.kind !== 'object') return [];
  const entries = value.entries.filter((entry) => entry.value !== null && !isUnsent(entry.value));
  checkGivenOnce(entries);
  const changes = entries.flatMap((entry) => planChange(entry) ?? []);
  const twice = changes.find(({ column }) => set.includes(column));
  if (twice === undefined) return changes;
  const name = quote(twice.column.fieldName);
  throw new ApiError('BAD_USER_INPUT', `The field ${name} is in "set" and in "json". Leave it out of one of them.`);
}

/** Null if nothing changes. */
function planChange(entry: InputEntry): JsonChange | null {
  const { kind, column } = bindingAt('json columns', entry);
  const { shape } = column;
  if (kind === 'shape' && shape !== null) {
    const encoding = { kind: 'value', type: namedTypes.jsonb, use: 'write' } as const;
    return { kind: 'members', column, shape, members: { value: writtenValue(entry), encoding } };
  }
  let merge: Parameter | null = null;
  const remove: Parameter[] = [];
  const set: JsonParts['set'][number][] = [];
  for (const member of objectOf(entry.value).entries) {
    if (member.value === null) continue;
    switch (bindingAt('json change', member).kind) {
      case 'merge':
        merge = valueParameter(member.value, namedTypes.jsonb, 'write');
        break;
      case 'remove paths':
        remove.push(...listOf(member.value).map(pathParameter));
        break;
      case 'set paths':
        set.push(...listOf(member.value).map(planAssignment));
    }
  }
  if (remove.length + set.length > mostChanges)
    throw new ApiError('QUERY_TOO_COMPLEX', `The field ${quote(column.fieldName)} has more than ${mostChanges} changes. Send fewer.`);
  return merge === null && remove.length + set.length === 0 ? null : { kind: 'parts', column, merge, remove, set };
}

function planAssignment(value: InputValue): JsonParts['set'][number] {
  const { entries } = objectOf(value);
  const assigned = valueAt(entries, 'json assignment', 'value');
  return {
    path: pathParameter(valueAt(entries, 'json assignment', 'path')),
    value: assigned && valueParameter(assigned, namedTypes.jsonb, 'write'),
  };
}
