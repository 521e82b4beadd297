/**
 * The domains with a scalar of their own: those of columns, arguments and results that the role sees, over scalars and enums. Others are
 * Opaque: over composite types, and those without a legal name.
 */
import type { CatalogType } from '../../catalog/catalog.ts';
import { type BuildContext, Excluded, type Notes } from '../build-context.ts';
import { readDescription, readDirective } from '../directives.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import { inClaimOrder, isFreeName, type PreferredName, preferredName, qualifiedName, typeNameOf, whyAdapted } from '../naming/names.ts';
import type { EnumValueType, ScalarType } from '../value-type.ts';
import { usedTypes } from './build-enums.ts';
import { valueTypeOf } from './value-types.ts';

const rename = 'choose another with the comment directive {"name": "..."}';

/** Adds each domain to the context. Everything that pg_graphql has must have claimed its names, and no value type may exist yet. */
export function* addDomains(context: BuildContext, names: ClaimedNames, notes: Notes): Generator<void, void> {
  const { catalog, settings } = context;
  const domains = [...catalog.types.values()].filter(({ kind, baseId }) => kind === 'd' && baseId !== 0);
  if (domains.length === 0 || !settings.additions.has('domains')) return;
  const used = yield* usedTypes(context);
  for (const id of [...typesOfCalls(context), ...typesOfComposites(context)]) if (!used.has(id)) used.set(id, true);
  const inOrder = inClaimOrder(
    domains.filter((type) => used.has(type.id) && mayHaveScalar(context, type)),
    context.schemas,
    (type) => ({ schemaId: type.schemaId, catalogName: type.name, origin: nameOf(context, type).origin }),
  );
  for (const type of inOrder) addDomain(context, names, notes, type, used.get(type.id) === true);
}

/** The types of arguments and results of the functions that may be fields of Query or Mutation, or their elements. */
function* typesOfCalls({ catalog, privileges, schemas }: BuildContext): Generator<number, void> {
  for (const { id, schemaId, resultTypeId, arguments: args } of catalog.functions) {
    if (!schemas.has(schemaId) || !privileges.functions.has(id)) continue;
    for (const typeId of [resultTypeId, ...args.map((argument) => argument.typeId)]) yield catalog.types.get(typeId)?.elementId || typeId;
  }
}

function typesOfComposites({ catalog, composites }: BuildContext): number[] {
  const columns = [...composites.values()].flatMap(({ traits }) => traits.catalogTable.columns);
  return columns.map(({ typeId }) => catalog.types.get(typeId)?.elementId || typeId);
}

/** Whether the domain is over a scalar or an enum, and its schema's directive leaves the addition on. */
function mayHaveScalar({ catalog, schemas, settings }: BuildContext, type: CatalogType): boolean {
  const base = catalog.types.get(type.baseId);
  const additions = schemas.get(type.schemaId)?.additions ?? settings.additions;
  return additions.has('domains') && base !== undefined && base.kind !== 'c' && base.category !== 'A';
}

function nameOf({ schemas, settings }: BuildContext, { schemaId, name, comment }: CatalogType): PreferredName {
  const { inflection, additions } = schemas.get(schemaId) ?? { inflection: false, additions: settings.additions };
  return preferredName(name, readDirective(comment), (own) => typeNameOf(own, inflection), additions);
}

function addDomain(context: BuildContext, names: ClaimedNames, notes: Notes, type: CatalogType, isShown: boolean): void {
  const base = valueTypeOf(context, type.baseId);
  if (base.kind !== 'scalar' && base.kind !== 'enum') return;
  const { name: plain, origin } = nameOf(context, type);
  const name = qualifiedName(type.schema, type.name);
  const noted = { object: 'domain', id: type.id, name } as const;
  if (!isFreeName(plain)) {
    const why = new Excluded('illegal-name', `"${plain}" is not a valid GraphQL name, so its values are Opaque; ${rename}`);
    notes.exclusions.push({ ...noted, ...why });
    return;
  }
  const inflection = context.schemas.get(type.schemaId)?.inflection ?? false;
  const typeName = names.claimDomain({ name: plain, schema: type.schema, inflection });
  if (typeName !== plain) {
    const reason = `the name "${plain}", or that of one of its filters, is already taken, so it is called "${typeName}"; ${rename}`;
    notes.renamings.push({ ...noted, reason });
  }
  if (origin === 'adapted') notes.renamings.push({ ...noted, reason: whyAdapted(type.name, typeName, rename) });
  context.domains.set(type.id, {
    id: type.id,
    schema: type.schema,
    name: type.name,
    typeName,
    description: readDescription(readDirective(type.comment)) ?? describe(context, type, base),
    base,
    introspection: isShown || (context.schemas.get(type.schemaId)?.introspection ?? false),
  });
}

/** ``The domain `email` over `text`: CHECK ((VALUE ~ '@'::text))``. */
function describe({ catalog }: BuildContext, { name, checks, baseId }: CatalogType, base: ScalarType | EnumValueType): string {
  const over = base.kind === 'enum' ? base.enum.name : (catalog.types.get(baseId)?.sql ?? base.typeName);
  return [`The domain \`${name}\` over \`${over}\``, ...(checks.length > 0 ? [checks.join(', ')] : [])].join(': ');
}
