/** Finds the member of a value of a composite type, the bound of a range, or that of one in an array, that an error belongs to. */
import { unwrapError, writePath } from '../../errors/input-path.ts';
import type { ValueType } from '../../model/value-type.ts';
import { isOfBounds } from '../../plan/inputs.ts';
import type { Parameter, ParameterValue } from '../../plan/parameter.ts';
import type { ScalarValue } from '../../request/operation.ts';
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
  if (cause !== null && isOfBounds(value)) {
    const bounds = boundsOf(value, []).filter((bound) => cause.message.includes(`"${String(valueOf(bound.value))}"`));
    return bounds.length === 1 ? endOf(bounds[0]!.path) : '';
  }
  if (encoding.kind !== 'value' || (encoding.type.kind !== 'row' && encoding.type.kind !== 'row list')) return '';
  if (cause === null) {
    try {
      textOf(parameter);
      return '';
    } catch (error) {
      return endOf(unwrapError(error).path);
    }
  }
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

function boundsOf(value: ParameterValue, path: Leaf['path']): readonly { readonly path: Leaf['path']; readonly value: ParameterValue }[] {
  if (value.kind === 'multirange' || value.kind === 'list') return value.items.flatMap((item, index) => boundsOf(item, [...path, index]));
  if (value.kind !== 'range') return [];
  return (['lower', 'upper'] as const).flatMap((side) => {
    const bound = value[side];
    return bound === null ? [] : [{ path: [...path, side], value: bound }];
  });
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
  if (type.kind !== 'row' || typeof value !== 'object' || !('attributes' in value)) return [{ path, value, type }];
  return type.table.columns.flatMap((column) =>
    leavesOf(value.attributes.get(column.name) ?? null, column.type, [...path, column.fieldName]),
  );
}
