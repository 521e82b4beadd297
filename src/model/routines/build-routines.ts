/**
 * Functions as fields of Query (stable, immutable) or Mutation (volatile), with their arguments and results; and computed fields: functions
 * whose only argument is a row of a visible table. They read the whole row, so the role needs SELECT on the whole table.
 */
import type { CatalogArgument, CatalogFunction } from '../../catalog/catalog.ts';
import { type BuildContext, Excluded, emptyNotes, type Mutable, type Notes, notGranted } from '../build-context.ts';
import { readDescription, readDirective, readLiveRefresh } from '../directives.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import {
  argumentNameOf,
  functionName,
  inClaimOrder,
  isFreeName,
  numbered,
  type PreferredName,
  preferredName,
  routineNameOf,
  whyAdapted,
} from '../naming/names.ts';
import type { Routine, RoutineArgument, RoutineResult } from '../routine.ts';
import type { LazyTable } from '../tables/lazy-table.ts';
import { typeWith, valueTypeOf } from '../tables/value-types.ts';
import { postgresType } from '../types/postgres-types.ts';
import { additionsOf, isInputType, isPlainType, resultTypeOf, rowTableOf, whyForbidden } from './routine-types.ts';

/** Schemas whose functions pg_graphql never exposes, because they belong to its platform. */
const systemSchemas = ['graphql', 'graphql_public', 'auth', 'extensions'];

/** The arguments of results that have pages. */
const pageArguments: Partial<Record<RoutineResult['kind'], readonly string[]>> = {
  rows: ['first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy'],
  'value set': ['first', 'offset'],
  'row set': ['first', 'offset'],
};

/** Builds the functions, and reports why others are left out, except those of extensions, which users cannot change. */
export function* buildRoutines(context: BuildContext, names: ClaimedNames, notes: Notes): Generator<void, Routine[]> {
  const exposed = context.catalog.functions.filter(({ schemaId }) => context.schemas.has(schemaId));
  const routines: Mutable<Routine>[] = [];
  for (const catalogFunction of exposed) {
    yield;
    if (rowTableOf(context, catalogFunction)) continue;
    const routine = buildRoutine(context, notes, catalogFunction);
    if (!(routine instanceof Excluded)) routines.push(routine);
    else if (!catalogFunction.extension) {
      notes.exclusions.push({
        object: 'function',
        id: catalogFunction.id,
        name: functionName(context.catalog, catalogFunction),
        ...routine,
      });
    }
  }
  claimNames(context, names, notes, routines);
  return routines;
}

function claimNames(context: BuildContext, names: ClaimedNames, notes: Notes, routines: readonly Mutable<Routine>[]): void {
  const functions = new Map(context.catalog.functions.map((catalogFunction) => [catalogFunction.id, catalogFunction]));
  const inOrder = inClaimOrder(routines, context.schemas, ({ id, name }) => {
    const catalogFunction = functions.get(id)!;
    return { schemaId: catalogFunction.schemaId, catalogName: name, origin: routineNameOf(context, catalogFunction).origin };
  });
  for (const routine of inOrder) {
    const { id, schema, fieldName: plain, volatile } = routine;
    const catalogFunction = functions.get(id)!;
    const inflection = context.schemas.get(catalogFunction.schemaId)?.inflection ?? false;
    routine.fieldName = names.claimRootField({ name: plain, schema, inflection }, volatile ? 'mutation' : 'query');
    const note = (reason: string) =>
      notes.renamings.push({ object: 'function', id, name: functionName(context.catalog, catalogFunction), reason });
    if (routine.fieldName !== plain) {
      note(`the name "${plain}" is already taken by another field, so it is called "${routine.fieldName}"; ${rename}`);
    }
    const by = context.overloads.get(id)?.by;
    if (by && routineNameOf(context, catalogFunction).origin !== 'directive') {
      note(`other functions have its name, so it is called "${routine.fieldName}", after its arguments; ${rename}`);
    }
    if (routineNameOf(context, catalogFunction).origin === 'adapted') note(whyAdapted(catalogFunction.name, routine.fieldName, rename));
  }
}

const rename = 'rename it, or choose another name with the comment directive {"name": "..."}';

function buildRoutine(context: BuildContext, notes: Notes, catalogFunction: CatalogFunction): Mutable<Routine> | Excluded {
  const { role, functions } = context.privileges;
  const uncallable = whyUncallable(context, catalogFunction);
  if (uncallable) return uncallable;
  const result = resultTypeOf(context, catalogFunction);
  if (result instanceof Excluded) return result;
  // In pg_graphql, root fields cannot return enums; only columns and computed fields can have them.
  if ((result.kind === 'value' || result.kind === 'value set') && !isPlainType(context, catalogFunction.resultTypeId)) {
    return new Excluded('unsupported-type', 'it returns an enum; return it as text');
  }
  if (!functions.has(catalogFunction.id))
    return notGranted(`the role ${role} cannot execute it; grant execute on it to the role`, 'execute', catalogFunction.id);
  const schema = context.schemas.get(catalogFunction.schemaId);
  const args = buildArguments(context, notes, catalogFunction, result);
  if (args instanceof Excluded) return args;
  const unreachable = catalogFunction.arguments.find(
    ({ name, hasDefault }) => !hasDefault && !args.some((argument) => argument.name === name),
  );
  return routineOf(context, catalogFunction, rename, {
    arguments: args,
    unreachableArgument: unreachable?.name ?? null,
    result,
    introspection: schema?.introspection ?? false,
    subscribable: schema?.additions.has('subscriptions') ?? false,
  });
}

/** The routine of a function, unless its name is illegal. */
function routineOf(
  context: BuildContext,
  catalogFunction: CatalogFunction,
  remedy: string,
  more: Pick<Routine, 'arguments' | 'unreachableArgument' | 'result' | 'introspection' | 'subscribable'>,
): Mutable<Routine> | Excluded {
  const { id, schema, name, volatile, plpgsql, effects, missesShards } = catalogFunction;
  const { name: fieldName } = routineNameOf(context, catalogFunction);
  if (!isFreeName(fieldName)) return new Excluded('illegal-name', `"${fieldName}" is not a valid GraphQL name; ${remedy}`);
  return {
    id,
    schema,
    name,
    fieldName,
    description: readDescription(readDirective(catalogFunction.comment)),
    liveRefresh: readLiveRefresh(readDirective(catalogFunction.comment)),
    volatile,
    plpgsql,
    effects,
    missesShards,
    hasBounds: additionsOf(context, catalogFunction).has('ranges'),
    ...more,
  };
}

function whyUncallable(context: BuildContext, catalogFunction: CatalogFunction): Excluded | undefined {
  const { id, schema, kind } = catalogFunction;
  if (systemSchemas.includes(schema)) {
    return new Excluded('not-callable', `functions in the schema ${schema} are not exposed; move it to another schema`);
  }
  // As in pg_graphql, procedures are fields, but calling one fails: PostgreSQL cannot call them in an expression.
  if (kind === 'a' || kind === 'w') return new Excluded('not-callable', 'it is not an ordinary function; call it from one');
  const overload = context.overloads.get(id);
  if (!overload) return undefined;
  if (!additionsOf(context, catalogFunction).has('moreFunctions'))
    return new Excluded('name-taken', 'another function has the same name; rename one of them');
  return overload.ambiguous ? indistinct : undefined;
}

const indistinct = new Excluded(
  'name-taken',
  'another function has the same name, and no argument of its own tells it from that one; rename the function or an argument',
);

function buildArguments(
  context: BuildContext,
  notes: Notes,
  catalogFunction: CatalogFunction,
  result: RoutineResult,
  given = catalogFunction.arguments,
): RoutineArgument[] | Excluded {
  const args: Mutable<RoutineArgument>[] = [];
  for (const argument of given) {
    if (argument.name === '') return new Excluded('not-callable', 'it has an unnamed argument; name it');
    const additions = additionsOf(context, catalogFunction);
    const type = typeWith(context, additions, argument.typeId, valueTypeOf(context, argument.typeId));
    if (!isInputType(context, argument.typeId, type, additions) || !isInput(type)) {
      const reason = `its argument ${argument.name} has a type that arguments cannot have; use text or json instead`;
      return new Excluded('unsupported-type', reason);
    }
    const { name: argumentName } = argumentNameIn(context, catalogFunction, argument);
    // As in pg_graphql, the argument is not listed. If the function requires it, its field always fails.
    if (!isFreeName(argumentName)) {
      excludeArgument(context, notes, catalogFunction, argument, argumentName);
      continue;
    }
    const variadic = catalogFunction.variadic && argument === catalogFunction.arguments.at(-1);
    args.push({ name: argument.name, argumentName, type, variadic, ...requirement(context, argument, catalogFunction) });
  }
  nameArguments(context, notes, catalogFunction, args, result);
  return args;
}

/** Makes argument names unique: if several share a name, the first keeps it and the others are called `<name>Argument`. */
function nameArguments(
  context: BuildContext,
  notes: Notes,
  catalogFunction: CatalogFunction,
  args: readonly Mutable<RoutineArgument>[],
  result: RoutineResult,
): void {
  const reserved = pageArguments[result.kind] ?? [];
  const claimed = new Set(reserved);
  const isAdapted = (argument: RoutineArgument) => argumentNameIn(context, catalogFunction, argument).origin === 'adapted';
  const adapted = args.filter(isAdapted);
  const inOrder = [...args.filter((argument) => !adapted.includes(argument)), ...adapted];
  const late = inOrder.filter(({ argumentName }) => claimed.has(argumentName) || !claimed.add(argumentName));
  const note = ({ name }: RoutineArgument, reason: string) =>
    notes.renamings.push({
      object: 'argument',
      id: catalogFunction.id,
      name: `${functionName(context.catalog, catalogFunction)}.${name}`,
      reason,
    });
  for (const argument of late) {
    const plain = argument.argumentName;
    argument.argumentName = numbered(`${plain}Argument`, (name) => !claimed.has(name));
    claimed.add(argument.argumentName);
    const holder = reserved.includes(plain)
      ? `taken by an argument that every ${result.kind === 'rows' ? 'collection' : 'list of a function'} has`
      : 'already taken by another argument of the field';
    note(argument, `the name "${plain}" is ${holder}, so it is called "${argument.argumentName}"; to change that, rename it`);
  }
  for (const argument of adapted) note(argument, whyAdapted(argument.name, argument.argumentName, 'to change that, rename it'));
}

function argumentNameIn(
  { schemas, settings }: BuildContext,
  { schemaId }: CatalogFunction,
  argument: { readonly name: string },
): PreferredName {
  const { inflection, additions } = schemas.get(schemaId) ?? { inflection: false, additions: settings.additions };
  return preferredName(argument.name, {}, (name) => argumentNameOf(name, inflection), additions);
}

function excludeArgument(
  context: BuildContext,
  notes: Notes,
  catalogFunction: CatalogFunction,
  { name, hasDefault }: CatalogArgument,
  argumentName: string,
): void {
  const problem = `"${argumentName}" is not a valid GraphQL name${hasDefault ? '' : ', so the function cannot be called'}`;
  const exclusion = {
    object: 'argument',
    id: catalogFunction.id,
    name: `${functionName(context.catalog, catalogFunction)}.${name}`,
  } as const;
  notes.exclusions.push({ ...exclusion, ...new Excluded('illegal-name', `${problem}; rename the argument`) });
}

function isInput(type: ReturnType<typeof valueTypeOf>): type is RoutineArgument['type'] {
  return type.kind !== 'composite' && type.kind !== 'unsupported';
}

function requirement(
  { catalog, overloads }: BuildContext,
  { name, typeId, hasDefault, defaultSql }: CatalogArgument,
  { id, variadic }: CatalogFunction,
): Pick<RoutineArgument, 'required' | 'defaultValue'> {
  // In named notation, PostgreSQL finds a variadic function only if all arguments are given.
  if (variadic || overloads.get(id)?.required.has(name)) return { required: true, defaultValue: undefined };
  const type = catalog.types.get(typeId);
  const readDefault = type && postgresType(type).readDefault;
  return { required: !hasDefault, defaultValue: defaultSql === null ? undefined : readDefault?.(defaultSql) };
}

/** Builds the computed fields of a table. Their functions may be in schemas that are not exposed, if the role may use those. */
export function buildComputedFields(context: BuildContext, table: LazyTable): Mutable<Routine>[] {
  const { functions } = context.links.of(table.id);
  return functions.flatMap((catalogFunction) => {
    if (!rowTableOf(context, catalogFunction)) return [];
    const field = buildComputed(context, emptyNotes(), table, catalogFunction);
    return field instanceof Excluded ? [] : field;
  });
}

export function* noteComputed(context: BuildContext, notes: Notes): Generator<void, void> {
  const { exclusions } = notes;
  for (const catalogFunction of context.catalog.functions) {
    const table = rowTableOf(context, catalogFunction);
    if (!table) continue;
    const owner = context.tables.get(table.id);
    const field = owner ? buildComputed(context, notes, owner, catalogFunction) : ownerExcluded;
    if (field instanceof Excluded)
      exclusions.push({ object: 'function', id: catalogFunction.id, name: functionName(context.catalog, catalogFunction), ...field });
    yield;
  }
}

const ownerExcluded = new Excluded('owner-left-out', 'the table of its argument is not in the API; see the finding for that table');

function buildComputed(
  context: BuildContext,
  notes: Notes,
  { traits: { catalogTable: table, schema } }: LazyTable,
  catalogFunction: CatalogFunction,
): Mutable<Routine> | Excluded {
  if (catalogFunction.kind !== 'f') return new Excluded('not-callable', 'it is not an ordinary function; call it from one');
  const result = resultTypeOf(context, catalogFunction, { isComputed: true });
  if (result instanceof Excluded) return result;
  const forbidden = whyForbidden(context, table, catalogFunction);
  if (forbidden) return forbidden;
  const [, ...others] = catalogFunction.arguments;
  if (others.length > 0 && context.overloads.get(catalogFunction.id)?.ambiguous) return indistinct;
  const args = buildArguments(context, notes, catalogFunction, result, others);
  if (args instanceof Excluded) return args;
  if (others.some(({ name, hasDefault }) => !hasDefault && !args.some((argument) => argument.name === name)))
    return new Excluded('illegal-name', 'it requires an argument whose name GraphQL does not allow; rename the argument');
  return routineOf(context, catalogFunction, 'choose another with the comment directive {"name": "..."}', {
    arguments: args,
    unreachableArgument: null,
    result,
    introspection: schema.introspection,
    subscribable: true,
  });
}
