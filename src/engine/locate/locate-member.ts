/** Finds the member of a value of a composite type, the bound of a range, or that of one in an array, that an error belongs to. */
import { unwrapError, writePath } from '../../errors/input-path.ts';
import { isDomainNamed, rangesOf } from '../../model/types/named-types.ts';
import type { RowListType, ValueType } from '../../model/value-type.ts';
import { isOfBounds } from '../../plan/inputs.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { ScalarValue } from '../../request/operation.ts';
import { inputName, isComposite, isRange } from '../prepare/encode-value.ts';
import { sharedStart } from './locate-field.ts';
import type { Failure } from './locate-input.ts';

/** A value, or one in it. */
interface Part {
  readonly path: readonly (string | number)[];
  readonly value: ScalarValue;
  readonly type: ValueType;
}

/** The end of a path that leads to the member: `.spots[1].x`, or `.spots` if it may be several of these; empty if the value has none. */
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
  const textOfPart = (part: Part) =>
    textOf({ value: { kind: 'constant', value: part.value }, encoding: { kind: 'value', type: part.type, use: encoding.use } });
  // PostgreSQL names a domain whose constraints a value violates, and quotes a text that it cannot read.
  const suspects = partsOf(valueOf(value), encoding.type, []).filter((part) =>
    cause.dataType === undefined
      ? isLeaf(part) && cause.message.includes(`"${textOfPart(part)}"`)
      : isDomainNamed(part.type, cause.dataType),
  );
  const [first, ...others] = suspects.map(({ path }) => path);
  return first === undefined ? '' : endOf(others.reduce(sharedStart, first));
}

function endOf(path: Part['path']): string {
  return writePath(['', ...path]);
}

/** The value and all that is in it, but for nulls. */
function partsOf(value: ScalarValue, type: ValueType, path: Part['path']): readonly Part[] {
  return value === null ? [] : [{ path, value, type }, ...insideOf(value, type, path)];
}

function insideOf(value: ScalarValue, type: ValueType, path: Part['path']): readonly Part[] {
  if (type.kind === 'list' || type.kind === 'row list') {
    const items: readonly ScalarValue[] = Array.isArray(value) ? value : [value];
    const element = type.kind === 'list' ? type.element : elementOf(type);
    return items.flatMap((item, index) => partsOf(item, element, [...path, index]));
  }
  const range = rangesOf(type)?.range;
  if (range?.isMulti && Array.isArray(value)) return value.flatMap((item, index) => insideOf(item, type, [...path, index]));
  if (range && isRange(value))
    return [...value.range].flatMap(([part, bound]) => partsOf(typeof bound === 'string' ? bound : null, range.bound, [...path, part]));
  if (type.kind !== 'row' || !isComposite(value)) return [];
  return type.table.columns.flatMap((column) => {
    const member = value.attributes.get(column.name) ?? null;
    return partsOf(member, column.type, [...path, inputName(column, member)]);
  });
}

function elementOf({ table, sqlType, elementDomain }: RowListType): ValueType {
  return { kind: 'row', table, sqlType, ...(elementDomain !== undefined && { domainName: elementDomain }) };
}

/** Whether PostgreSQL reads the value from a text of its own. */
function isLeaf({ value }: Part): boolean {
  return !Array.isArray(value) && !isRange(value) && !isComposite(value);
}
