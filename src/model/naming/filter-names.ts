/** The names of the filters of values, which columns of a type have in common. */
import type { Additions } from '../additions.ts';
import type { Model } from '../model.ts';
import { isCompared, isJson } from '../types/named-types.ts';
import type { EnumValueType, ScalarType } from '../value-type.ts';
import { filterTypeName } from './graphql-names.ts';

/** The names that the filter of a type can have in a table with these additions, the first of those that there are. */
export function filterNamesOf(
  type: ScalarType | EnumValueType,
  additions: Additions,
  { jsonTypes, typeFilters, rangeTypes }: Pick<Model, 'jsonTypes' | 'typeFilters' | 'rangeTypes'>,
): readonly string[] {
  if (type.kind === 'enum') return [filterTypeName(type.enum.typeName)];
  const { traits, range, scalar, domain } = type;
  if (isJson(type) && additions.has('json') && jsonTypes !== null) return [jsonTypes.filter];
  const own = traits.filter === null ? undefined : typeFilters.get(traits.filter);
  const ofRanges = range && additions.has('ranges') ? rangeTypes.get(range.scalar) : undefined;
  const plain = scalar === 'JSON' ? undefined : filterTypeName(scalar);
  const name = own ?? (range?.isMulti ? ofRanges?.multirangeFilter : ofRanges?.filter) ?? plain;
  return [domain && filterTypeName(domain.typeName), name].filter((each) => each !== undefined);
}

/** The names that the filter of the elements of an array can have; empty if the array has no filter. */
export function elementFilterNamesOf(...[type, additions, names]: Parameters<typeof filterNamesOf>): readonly string[] {
  if (!isCompared(type)) return [];
  return filterNamesOf(type, additions, names).filter((name) => name !== filterTypeName('Opaque') || additions.has('moreTypes'));
}

/** The name of the filter of arrays whose elements have this one. */
export function listFilterNameOf(filterName: string): string {
  return filterName.replace(/Filter(\d*)$/, 'ListFilter$1');
}
