/**
 * A `GraphQLSchema` that builds its types on first use. graphql-js builds every type when a schema is constructed, which takes seconds and
 * hundreds of megabytes for thousands of tables, but validation only looks up a few types by name.
 *
 * Relies on undocumented behaviour of graphql-js: validation reads a schema only through the methods overridden here
 * (`test/contracts/graphql.test.ts`).
 */
import {
  GraphQLDirective,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLSkipDirective,
  getNamedType,
  isInputObjectType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';
import { runAtOnce } from '../../budget/turns.ts';
import { rootTypeNames } from '../../model/naming/graphql-names.ts';
import { introspectionFields, introspectionType } from './graphql-internals.ts';
import { LazyObjectType } from './lazy-object-type.ts';
import type { TypeRegistry } from './type-registry.ts';

const includeDirective = describeIf(
  GraphQLIncludeDirective,
  'This field or fragment will be included only when the `if` argument is true.',
  'Included when true',
);
const skipDirective = describeIf(
  GraphQLSkipDirective,
  'This field or fragment will be skipped when the `if` argument is true.',
  'Skipped when true',
);

/** The directive with pg_graphql's descriptions. */
function describeIf(directive: GraphQLDirective, description: string, ifDescription: string): GraphQLDirective {
  const { args, ...config } = directive.toConfig();
  return new GraphQLDirective({
    ...config,
    description,
    args: { if: { ...args.if, type: args.if!.type, description: ifDescription } },
  });
}

interface LazySchemaOptions {
  readonly specifiesScalars?: boolean;
  /** The name of the root type of subscriptions, which the registry defines; null if there is none. */
  readonly subscriptionType?: string | null;
}

type TypeMap = Record<string, GraphQLNamedType>;

export class LazySchema extends GraphQLSchema {
  readonly #registry: TypeRegistry;
  readonly #hasMutation: boolean;
  readonly #subscriptionType: string | null;
  /** Whether it shows the specification URLs of scalars. The scalars, which all schemas share, always have them. */
  readonly specifiesScalars: boolean;
  #typeMap: TypeMap | undefined;

  /** The registry defines every type, including `Query`, `Node` and, if anything can be mutated, `Mutation`. */
  constructor(registry: TypeRegistry, { specifiesScalars = true, subscriptionType = null }: LazySchemaOptions = {}) {
    super({
      directives: [includeDirective, skipDirective],
      assumeValid: true,
      description: 'Represents the GraphQL schema of the database',
    });
    this.#registry = registry;
    this.specifiesScalars = specifiesScalars;
    this.#hasMutation = registry.has(rootTypeNames.mutation);
    this.#subscriptionType = subscriptionType;
  }

  /** The original `getType` reads the map of all types, so an unknown name would build them all. */
  override getType(name: string): GraphQLNamedType | undefined {
    return this.#registry.get(name) ?? introspectionType(name) ?? super.getTypeMap()[name];
  }

  countBuilt(): number {
    return this.#registry.countBuilt();
  }

  buildType(name: string): GraphQLNamedType | undefined {
    return this.#registry.build(name) ?? introspectionType(name) ?? super.getTypeMap()[name];
  }

  /** The fields of `Query`, `Mutation` or a row type, built one by one; undefined for other types. */
  fieldsOf(type: GraphQLNamedType): Iterable<GraphQLField<unknown, unknown>> | undefined {
    return type instanceof LazyObjectType ? type.buildEach() : undefined;
  }

  /** Whether `Query` has more than `most` fields. */
  *hasMoreQueries(most: number): Generator<void, boolean> {
    const query = this.getQueryType();
    let count = 0;
    for (const _ of query instanceof LazyObjectType ? query.fieldNames() : []) {
      count += 1;
      if (count > most) return true;
      yield;
    }
    return false;
  }

  override getField(parentType: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
    return (parentType === this.getQueryType() ? introspectionFields[name] : undefined) ?? super.getField(parentType, name);
  }

  override getQueryType(): GraphQLObjectType {
    return this.#registry.object(rootTypeNames.query);
  }

  override getMutationType(): GraphQLObjectType | undefined {
    return this.#hasMutation ? this.#registry.object(rootTypeNames.mutation) : undefined;
  }

  override getSubscriptionType(): GraphQLObjectType | undefined {
    return this.#subscriptionType === null ? undefined : this.#registry.object(this.#subscriptionType);
  }

  override getRootType(operation: string): GraphQLObjectType | undefined {
    if (operation === 'query') return this.getQueryType();
    return operation === 'mutation' ? this.getMutationType() : this.getSubscriptionType();
  }

  /** The names of all types to which something leads: those of the registry, sorted, then GraphQL's own. */
  typeNames(): readonly string[] {
    return runAtOnce(this.sortTypeNames());
  }

  *sortTypeNames(): Generator<void, readonly string[]> {
    const unused = yield* this.#unusedNames();
    const names = this.#registry.names().filter((name) => !unused.has(name));
    return [...(yield* sortNames(names)), ...this.#ownNames()];
  }

  /** Looks for types to which nothing leads, and no further than necessary: most are found in the first tables. */
  *#unusedNames(): Generator<void, ReadonlySet<string>> {
    const unused = new Set(this.#registry.conditionalNames());
    const conditional = new Set(unused);
    for (const name of this.#registry.names()) {
      if (conditional.has(name)) continue;
      const waiting = [name];
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        if (unused.size === 0) return unused;
        for (const used of namesIn(this.buildType(next)!)) {
          if (unused.delete(used)) waiting.push(used);
          yield;
        }
      }
    }
    return unused;
  }

  /** Built-in types that the registry does not define. */
  #ownNames(): readonly string[] {
    return Object.keys(super.getTypeMap()).filter((name) => !this.#registry.has(name));
  }

  /** Builds every type. Needed for printing the schema, never for requests. */
  override getTypeMap(): TypeMap {
    this.#typeMap ??= Object.fromEntries(this.typeNames().map((name) => [name, this.#shownType(this.getType(name)!)]));
    return this.#typeMap;
  }

  #shownType(type: GraphQLNamedType): GraphQLNamedType {
    if (this.specifiesScalars || !isScalarType(type) || isSpecifiedScalarType(type)) return type;
    return new GraphQLScalarType({ ...type.toConfig(), specifiedByURL: undefined });
  }

  /** Validation needs them only for suggestions for an unknown field of `Node`, which do not justify building all types. */
  override getPossibleTypes(_abstractType: unknown): readonly GraphQLObjectType[] {
    return [];
  }

  override isSubType(_abstractType: unknown, maybeSubType: GraphQLObjectType | GraphQLInterfaceType): boolean {
    return isObjectType(maybeSubType) && maybeSubType.getInterfaces().length > 0;
  }
}

/** The types of a type's fields and their arguments, one by one. */
function* namesIn(type: GraphQLNamedType): Generator<string, void> {
  if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) yield getNamedType(field.type).name;
  if (!isObjectType(type)) return;
  for (const field of type instanceof LazyObjectType ? type.buildEach() : Object.values(type.getFields())) {
    yield getNamedType(field.type).name;
    for (const argument of field.args) yield getNamedType(argument.type).name;
  }
}

/** The number of names to sort or merge before yielding. */
const stepLength = 1000;

/** Sorts hundreds of thousands of names by code units, like `sort()`, in small steps. */
export function* sortNames(names: Iterable<string>): Generator<void, readonly string[]> {
  let runs: (readonly string[])[] = [];
  let run: string[] = [];
  for (const name of names) {
    if (run.push(name) < stepLength) continue;
    runs.push(run.sort());
    run = [];
    yield;
  }
  runs.push(run.sort());
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let index = 0; index < runs.length; index += 2) merged.push(yield* merge(runs[index]!, runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0]!;
}

function* merge(one: readonly string[], other: readonly string[]): Generator<void, readonly string[]> {
  const merged: string[] = [];
  let [index, otherIndex] = [0, 0];
  while (index < one.length && otherIndex < other.length) {
    merged.push(one[index]! <= other[otherIndex]! ? one[index++]! : other[otherIndex++]!);
    if (merged.length % stepLength === 0) yield;
  }
  return [...merged, ...one.slice(index), ...other.slice(otherIndex)];
}
