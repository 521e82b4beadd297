/** Finds the member of a value of a composite type, the bound of a range, or that of one in an array, that an error belongs to. */
import { unwrapError, writePath } from '../../errors/input-path.ts';
import { rangesOf } from '../../model/types/named-types.ts';
import type { ValueType } from '../../model/value-type.ts';
import { isOfBounds } from '../../plan/inputs.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { ScalarValue } from '../../request/operation.ts';
import { inputName, isRange } from '../prepare/encode-value.ts';
import type { Failure } from './locate-input.ts';

interface Leaf {
  readonly path: readonly (string | number)[];
  readonly value: ScalarValue;
  readonly type: ValueType;
}

/** The end of a path that leads to the member: `.spots[1].x`; empty if the value has none, or it is not known which. */
export function memberPath(parameter: Parameter, failure: Failure): string {
  const { value, encoding } = parameter;
  const { cause, textOf, valueOf } = failure;
  if (cause === null) {
    try {
      textOf(parameter);
      return '';
    } catch (error) {
      return endOf(unwrapError(error).path);
    }
  }
  if (encoding.kind !== 'value' || (encoding.type.kind !== 'row' && encoding.type.kind !== 'row list' && !isOfBounds(value))) return '';
  const textOfLeaf = (leaf: Leaf) =>
    textOf({ value: { kind: 'constant', value: leaf.value }, encoding: { kind: 'value', type: leaf.type, use: encoding.use } });
  // PostgreSQL names a domain whose constraints a value violates, and quotes a text that it cannot read.
  const suspects = leavesOf(valueOf(value), encoding.type, []).filter((leaf) =>
    cause.dataType === undefined
      ? cause.message.includes(`"${textOfLeaf(leaf)}"`)
      : leaf.type.kind === 'scalar' && leaf.type.typeName === cause.dataType,
  );
  return suspects.length === 1 ? endOf(suspects[0]!.path) : '';
}

function endOf(path: Leaf['path']): string {
  return writePath(['', ...path]);
}

function leavesOf(value: ScalarValue, type: ValueType, path: Leaf['path']): readonly Leaf[] {
  if (value === null) return [];
  if (type.kind === 'list' || type.kind === 'row list') {
    const items: readonly ScalarValue[] = Array.isArray(value) ? value : [value];
    const element: ValueType = type.kind === 'list' ? type.element : { ...type, kind: 'row' };
    return items.flatMap((item, index) => leavesOf(item, element, [...path, index]));
  }
  const range = rangesOf(type)?.range;
  if (range?.isMulti && Array.isArray(value)) {
    return value.flatMap((item, index) => leavesOf(item, type, [...path, index]));
  }
  if (range && isRange(value))
    return [...value.range].flatMap(([part, bound]) => leavesOf(typeof bound === 'string' ? bound : null, range.bound, [...path, part]));
  if (type.kind !== 'row' || typeof value !== 'object' || !('attributes' in value)) return [{ path, value, type }];
  return type.table.columns.flatMap((column) => {
    const member = value.attributes.get(column.name) ?? null;
    return leavesOf(member, column.type, [...path, inputName(column, member)]);
  });
}
