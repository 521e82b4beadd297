/**
 * Ranges as objects, beside their text, for each scalar that bounds have. For a column `during` of type tstzrange:
 *
 *     type Stay { during: Opaque  duringBounds: DatetimeRange … }
 *     type DatetimeRange { lower: Datetime  upper: Datetime  lowerInclusive: Boolean!  upperInclusive: Boolean!  isEmpty: Boolean! }
 *     input StayInsertInput { during: Opaque  duringBounds: DatetimeRangeInput … }
 *     input DatetimeRangeFilter { contains: DatetimeRangeInput  containsElement: Datetime … }
 */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from 'graphql';
import type { RangeTypeNames, Table } from '../../model/model.ts';
import { filterTypeName } from '../../model/naming/graphql-names.ts';
import type { Routine, RoutineArgument } from '../../model/routine.ts';
import { rangesOf } from '../../model/types/named-types.ts';
import { boundsName, type RangeOperator, rangeOperators } from '../../model/types/operators.ts';
import type { RangeType, ValueType } from '../../model/value-type.ts';
import { bindField, bindInput, type RangePart } from '../bindings.ts';
import { emptyRecord, type FieldConfig } from '../lazy/lazy-object-type.ts';
import type { TypeRegistry } from '../lazy/type-registry.ts';
import { scalarTypes } from '../value-types.ts';

const flags: Readonly<Record<string, { readonly kind: RangePart; readonly fallback: string }>> = {
  lowerInclusive: { kind: 'lower inclusive', fallback: 'Default: true' },
  upperInclusive: { kind: 'upper inclusive', fallback: 'Default: false' },
  isEmpty: { kind: 'is empty', fallback: 'Default: false. Such a range has no bounds' },
};
const unbounded = 'Null if it has no bound on this side';

/** Defines the objects and the inputs of ranges. Their filters are made from `rangeOperatorFields`. */
export function defineRangeTypes(registry: TypeRegistry): void {
  for (const [scalar, { object, input }] of registry.rangeTypes) {
    const bound: GraphQLScalarType = scalarTypes[scalar];
    registry.define(object, () => rangeObject(object, bound));
    registry.define(input, () => rangeInput(input, bound));
  }
}

function rangeObject(name: string, bound: GraphQLScalarType): GraphQLObjectType {
  const fields: GraphQLFieldConfigMap<unknown, unknown> = {
    lower: { type: bound, description: unbounded, ...bindField('range', { kind: 'lower' }) },
    upper: { type: bound, description: unbounded, ...bindField('range', { kind: 'upper' }) },
  };
  for (const [flag, { kind }] of Object.entries(flags))
    fields[flag] = { type: new GraphQLNonNull(GraphQLBoolean), ...bindField('range', { kind }) };
  return new GraphQLObjectType({ name, description: `A range of \`${bound.name}\` values`, fields });
}

function rangeInput(name: string, bound: GraphQLScalarType): GraphQLInputObjectType {
  const fields: GraphQLInputFieldConfigMap = {
    lower: { type: bound, description: unbounded, ...bindInput('range', { kind: 'lower' }) },
    upper: { type: bound, description: unbounded, ...bindInput('range', { kind: 'upper' }) },
  };
  for (const [flag, { kind, fallback }] of Object.entries(flags))
    fields[flag] = { type: GraphQLBoolean, description: fallback, ...bindInput('range', { kind }) };
  return new GraphQLInputObjectType({ name, description: `A range of \`${bound.name}\` values`, fields });
}

/** What the filter of a range has besides `eq` and `is`; nothing if no table has such ranges as objects. */
export function rangeOperatorFields(
  registry: TypeRegistry,
  { scalar, isMulti }: Pick<RangeType, 'scalar' | 'isMulti'>,
): GraphQLInputFieldConfigMap {
  const names = registry.rangeTypes.get(scalar);
  if (names === undefined) return {};
  const input = registry.input(names.input);
  const range = isMulti ? new GraphQLList(new GraphQLNonNull(input)) : input;
  const fields: GraphQLInputFieldConfigMap = {};
  for (const operator of Object.keys(rangeOperators) as RangeOperator[]) {
    const { takes, description } = rangeOperators[operator];
    const type = takes === 'range' ? range : scalarTypes[scalar];
    fields[operator] = { type, description, ...bindInput('range operators', { kind: 'range operator', operator }) };
  }
  const ofBound = registry.input(filterTypeName(scalar));
  fields.isEmpty = { type: GraphQLBoolean, description: 'Has no values', ...bindInput('range operators', { kind: 'is empty' }) };
  fields.lower = { type: ofBound, description: 'Conditions on its lower bound', ...bindInput('range operators', { kind: 'lower' }) };
  fields.upper = { type: ofBound, description: 'Conditions on its upper bound', ...bindInput('range operators', { kind: 'upper' }) };
  return fields;
}

/** What the filter of an array of ranges has besides that of other arrays, or instead. `list` has ranges. */
export function rangeListFields(list: GraphQLInputType): GraphQLInputFieldConfigMap {
  const names = ['containedBy', 'contains', 'equalTo', 'overlaps'] as const satisfies readonly RangeOperator[];
  return Object.fromEntries(
    names.map((operator) => [operator, { type: list, ...bindInput('range operators', { kind: 'range operator', operator }) }]),
  );
}

/** The fields of rows beside those of ranges. A name that the table needs for something else is left to it. */
export function boundsFields(
  registry: TypeRegistry,
  table: Table,
  isTaken: (name: string) => boolean,
  areNullable: boolean,
): ReadonlyMap<string, () => FieldConfig> {
  const fields = new Map<string, () => FieldConfig>();
  if (!table.additions.has('ranges')) return fields;
  for (const column of table.columns.filter(({ selectable }) => selectable)) {
    const name = boundsName(column.rowFieldName);
    if (namesOf(registry, column.type) === undefined || isTaken(name)) continue;
    fields.set(name, () => {
      const type = rangesObject(registry, column.type)!;
      return {
        type: column.notNull && !areNullable ? new GraphQLNonNull(type) : type,
        description: column.description,
        ...bindField('row', { kind: 'bounds', column }),
      };
    });
  }
  return fields;
}

/** The arguments of a function's field beside those that are ranges. */
export function boundsArguments(
  registry: TypeRegistry,
  routine: Routine,
  others: GraphQLFieldConfigArgumentMap,
): GraphQLFieldConfigArgumentMap {
  const args: GraphQLFieldConfigArgumentMap = emptyRecord();
  for (const argument of routine.arguments) {
    const name = boundsName(argument.argumentName);
    if (Object.hasOwn(others, name) || !takesBounds(registry, routine, argument)) continue;
    args[name] = {
      type: rangesInput(registry, argument.type)!,
      description: `Instead of \`${argument.argumentName}\``,
      ...bindInput('routine', { kind: 'argument bounds', argument }),
    };
  }
  return args;
}

/** Whether an argument has another one beside it for its bounds. */
export function takesBounds(
  registry: TypeRegistry,
  { hasBounds: isOn, arguments: all }: Routine,
  { type, argumentName }: RoutineArgument,
): boolean {
  const name = boundsName(argumentName);
  return isOn && !all.some((other) => other.argumentName === name) && rangesInput(registry, type) !== undefined;
}

/** Whether a function returns ranges that are objects, too. */
export function returnsBounds(registry: TypeRegistry, { hasBounds: isOn, result }: Routine): boolean {
  return isOn && result.kind === 'value' && namesOf(registry, result.type) !== undefined;
}

/** The field of a function that returns ranges, as objects; undefined for another. `plain` is its own field. */
export function boundsResult(registry: TypeRegistry, { hasBounds: isOn, result }: Routine, plain: FieldConfig): FieldConfig | undefined {
  const type = isOn && result.kind === 'value' ? rangesObject(registry, result.type) : undefined;
  return type && { ...plain, type };
}

function rangesObject(registry: TypeRegistry, type: ValueType): GraphQLObjectType | GraphQLList<GraphQLOutputType> | undefined {
  const names = namesOf(registry, type);
  return names && asMany(type, registry.object(names.object));
}

/** The input of a range, or of a list of several; undefined for another type. */
export function rangesInput(registry: TypeRegistry, type: ValueType): GraphQLInputObjectType | GraphQLList<GraphQLInputType> | undefined {
  const names = namesOf(registry, type);
  return names && asMany(type, registry.input(names.input));
}

/** The names of the types of a range, a multirange or an array of ranges; undefined for another type. */
function namesOf({ rangeTypes }: TypeRegistry, type: ValueType): RangeTypeNames | undefined {
  const { range } = rangesOf(type) ?? {};
  return range && rangeTypes.get(range.scalar);
}

/** A list if there may be several ranges. Arrays may have elements that are null. */
function asMany<Type extends GraphQLObjectType | GraphQLInputObjectType>(type: ValueType, one: Type) {
  if (rangesOf(type)?.areMany !== true) return one;
  return new GraphQLList(type.kind === 'list' ? one : new GraphQLNonNull(one));
}
