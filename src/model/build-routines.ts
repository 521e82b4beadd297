/** The functions that are fields of Query (stable, immutable) or Mutation (volatile), with their arguments and results. */
import type { CatalogArgument, CatalogFunction } from '../catalog/catalog.ts';
import { inClaimOrder } from './claim-order.ts';
import { rowTableOf } from './computed-functions.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import type { Draft, Mutable } from './draft.ts';
import { LeftOut, notGranted } from './left-out.ts';
import type { Routine, RoutineArgument, RoutineResult } from './model.ts';
import { argumentNameOf, isFreeName, numbered, routineFieldName } from './names.ts';
import { functionName } from './object-names.ts';
import { readDefault } from './routine-defaults.ts';
import { isPlainType, resultTypeOf } from './routine-types.ts';
import { valueTypeOf } from './value-types.ts';

/** Schemas whose functions the reference never exposes: they are those of its platform. */
const systemSchemas = ['graphql', 'graphql_public', 'auth', 'extensions'];

/** The arguments that every collection has. */
const collectionArguments = ['first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy'];

/** Builds the functions, and says of the others why they are left out; but not of an extension's, which nobody can change. */
export function* buildRoutines(draft: Draft): Generator<void, Routine[]> {
  const exposed = draft.catalog.functions.filter(({ schemaId }) => draft.schemas.has(schemaId));
  const overloads = new Map<string, number>();
  const keyOf = ({ schemaId, name }: CatalogFunction) => `${schemaId} ${name}`;
  for (const source of exposed) overloads.set(keyOf(source), (overloads.get(keyOf(source)) ?? 0) + 1);
  const routines: Mutable<Routine>[] = [];
  for (const source of exposed) {
    yield;
    if (rowTableOf(draft, source)) continue;
    const routine = buildRoutine(draft, source, (overloads.get(keyOf(source)) ?? 0) > 1);
    if (!(routine instanceof LeftOut)) routines.push(routine);
    else if (!source.extension) {
      draft.omissions.push({ object: 'function', id: source.id, name: functionName(draft.catalog, source), ...routine });
    }
  }
  claimNames(draft, routines);
  return routines;
}

/** Makes the names of fields differ. */
function claimNames(draft: Draft, routines: readonly Mutable<Routine>[]): void {
  const sources = new Map(draft.catalog.functions.map((source) => [source.id, source]));
  const inOrder = inClaimOrder(routines, draft.schemas, ({ id, name }) => {
    const { schemaId, comment } = sources.get(id)!;
    return { schemaId, source: name, explicit: readName(readDirective(comment), 'name') !== null };
  });
  for (const routine of inOrder) {
    const { id, schema, fieldName: plain, volatile } = routine;
    const source = sources.get(id)!;
    const inflection = draft.schemas.get(source.schemaId)?.inflection ?? false;
    routine.fieldName = draft.names.claimRootField({ name: plain, schema, inflection }, volatile ? 'mutation' : 'query');
    if (routine.fieldName === plain) continue;
    const reason = `the name "${plain}" is taken by another field: it is called "${routine.fieldName}"; to choose, ${rename}`;
    draft.renamings.push({ object: 'function', id, name: functionName(draft.catalog, source), reason });
  }
}

const rename = 'rename it, or name it with the comment directive {"name": "..."}';

/** The function as a field, or why it is none. */
function buildRoutine(draft: Draft, source: CatalogFunction, overloaded: boolean): Mutable<Routine> | LeftOut {
  const { role, functions } = draft.privileges;
  const uncallable = whyUncallable(source, overloaded);
  if (uncallable) return uncallable;
  const result = resultTypeOf(draft, source);
  if (result instanceof LeftOut) return result;
  // Enums are types of columns and computed fields only in the reference.
  if (result.kind === 'value' && !isPlainType(draft, source.resultTypeId)) {
    return new LeftOut('unsupported-type', 'it returns an enum: return it as text');
  }
  if (!functions.has(source.id))
    return notGranted(`the role ${role} may not execute it: grant execute on it to the role`, 'execute', source.id);
  const schema = draft.schemas.get(source.schemaId);
  const args = buildArguments(draft, source, schema?.inflection ?? false, result);
  if (args instanceof LeftOut) return args;
  const directive = readDirective(source.comment);
  const fieldName = readName(directive, 'name') ?? routineFieldName(source.name, schema?.inflection ?? false);
  if (!isFreeName(fieldName)) return new LeftOut('illegal-name', `"${fieldName}" is not a GraphQL name: ${rename}`);
  return {
    id: source.id,
    schema: source.schema,
    name: source.name,
    fieldName,
    description: readDescription(directive),
    volatile: source.volatile,
    arguments: args,
    result,
    introspection: schema?.introspection ?? false,
  };
}

function whyUncallable({ schema, kind }: CatalogFunction, overloaded: boolean): LeftOut | undefined {
  if (systemSchemas.includes(schema)) {
    return new LeftOut('not-callable', `functions of a schema ${schema} are not exposed: move it to another schema`);
  }
  // Procedures are listed, as in the reference, and cannot be called: PostgreSQL has no value for them.
  if (kind === 'a' || kind === 'w') return new LeftOut('not-callable', 'it is not an ordinary function: call it from one');
  return overloaded ? new LeftOut('name-taken', 'another function has the same name: rename one of them') : undefined;
}

/** The arguments, or why the function cannot be called with them. */
function buildArguments(draft: Draft, source: CatalogFunction, inflection: boolean, result: RoutineResult): RoutineArgument[] | LeftOut {
  const args: Mutable<RoutineArgument>[] = [];
  for (const argument of source.arguments) {
    if (argument.name === '') return new LeftOut('not-callable', 'it has an argument without a name: name it');
    const type = valueTypeOf(draft, argument.typeId);
    if (!isPlainType(draft, argument.typeId) || !isInput(type)) {
      const reason = `its argument ${argument.name} has a type that arguments cannot have: pass it as text or json`;
      return new LeftOut('unsupported-type', reason);
    }
    const argumentName = argumentNameOf(argument.name, inflection);
    // As in the reference it is not listed: a function that needs it cannot be called.
    if (!isFreeName(argumentName)) {
      omitArgument(draft, source, argument, argumentName);
      continue;
    }
    const variadic = source.variadic && argument === source.arguments.at(-1);
    args.push({ name: argument.name, argumentName, type, variadic, ...requirement(draft, argument, variadic) });
  }
  nameArguments(draft, source, args, result.kind === 'rows' ? collectionArguments : []);
  return args;
}

/** Of several with one name the first keeps it; another is called `<name>Argument`. */
function nameArguments(
  draft: Draft,
  source: CatalogFunction,
  args: readonly Mutable<RoutineArgument>[],
  reserved: readonly string[],
): void {
  const taken = new Set(reserved);
  const late = args.filter(({ argumentName }) => taken.has(argumentName) || !taken.add(argumentName));
  for (const argument of late) {
    const plain = argument.argumentName;
    argument.argumentName = numbered(`${plain}Argument`, (name) => !taken.has(name));
    taken.add(argument.argumentName);
    const reason = `the name "${plain}" is taken by another argument of the field: it is called "${argument.argumentName}"; to choose, rename it`;
    draft.renamings.push({ object: 'argument', id: source.id, name: `${functionName(draft.catalog, source)}.${argument.name}`, reason });
  }
}

function omitArgument(draft: Draft, source: CatalogFunction, { name, hasDefault }: CatalogArgument, argumentName: string): void {
  const problem = `"${argumentName}" is not a GraphQL name${hasDefault ? '' : ', so that the function cannot be called'}`;
  const omission = { object: 'argument', id: source.id, name: `${functionName(draft.catalog, source)}.${name}` } as const;
  draft.omissions.push({ ...omission, ...new LeftOut('illegal-name', `${problem}: rename the argument`) });
}

function isInput(type: ReturnType<typeof valueTypeOf>): type is RoutineArgument['type'] {
  return type.kind === 'scalar' || type.kind === 'enum' || type.kind === 'list';
}

function requirement(
  { catalog }: Draft,
  { typeId, hasDefault, defaultSql }: CatalogArgument,
  variadic: boolean,
): Pick<RoutineArgument, 'required' | 'defaultValue'> {
  // PostgreSQL takes a call by names for one of a variadic function only where the list is given.
  if (variadic) return { required: true, defaultValue: undefined };
  const type = catalog.types.get(typeId);
  return { required: !hasDefault, defaultValue: defaultSql === null || !type ? undefined : readDefault(defaultSql, type.name) };
}
