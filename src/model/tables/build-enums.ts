/** The enums of the exposed schemas. An enum without a legal name or any legal value name is left out, and its columns become Opaque. */
import type { CatalogType } from '../../catalog/catalog.ts';
import { type BuildContext, Excluded, type Notes, privilegesOn, type SchemaSettings } from '../build-context.ts';
import { readDescription, readDirective, readMappings } from '../directives.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import {
  inClaimOrder,
  isEnumValueName,
  isFreeName,
  type PreferredName,
  preferredName,
  qualifiedName,
  typeNameOf,
  whyAdapted,
} from '../naming/names.ts';
import { computedOwner, whyForbidden } from '../routines/routine-types.ts';
import type { EnumValue } from '../value-type.ts';

/** Adds each enum to the context, or reports why it is left out. The tables must already be in the context. */
export function* addEnums(context: BuildContext, names: ClaimedNames, notes: Notes): Generator<void, void> {
  const all = [...context.catalog.types.values()].filter(({ schemaId, labels }) => labels && context.schemas.has(schemaId));
  const isGranted = ({ id }: CatalogType) => context.privileges.types.has(id);
  const used = all.every(isGranted) ? null : yield* usedTypes(context);
  const exposed = all.filter((type) => isGranted(type) || used?.has(type.id));
  const inOrder = inClaimOrder(exposed, context.schemas, ({ schemaId, name, comment }) => ({
    schemaId,
    catalogName: name,
    origin: nameOf(name, comment, context.schemas.get(schemaId)!).origin,
  }));
  for (const type of inOrder) addEnum(context, names, notes, type, context.schemas.get(type.schemaId)!);
}

/**
 * The types of visible columns and computed fields, and their element types: PostgreSQL reads and writes these without USAGE. Each with
 * whether introspection shows one of these.
 */
export function* usedTypes(context: BuildContext): Generator<void, Map<number, boolean>> {
  const { types, functions } = context.catalog;
  const used = new Map<number, boolean>();
  const use = (typeId: number, isShown: boolean): void => {
    const id = types.get(typeId)?.elementId || typeId;
    used.set(id, isShown || used.get(id) === true);
  };
  for (const { traits } of [...context.tables.values(), ...context.insertOnly]) {
    for (const column of traits.catalogTable.columns) {
      const { select, insert, update } = privilegesOn(context, traits.catalogTable, column);
      if (select || insert || update) use(column.typeId, traits.schema.introspection);
    }
    yield;
  }
  for (const catalogFunction of functions) {
    const owner = computedOwner(context, catalogFunction);
    if (owner && !whyForbidden(context, owner.traits.catalogTable, catalogFunction)) use(catalogFunction.resultTypeId, owner.introspection);
    yield;
  }
  return used;
}

function nameOf(name: string, comment: string | null, { inflection, additions }: SchemaSettings): PreferredName {
  return preferredName(name, readDirective(comment), (own) => typeNameOf(own, inflection), additions);
}

function addEnum(context: BuildContext, names: ClaimedNames, notes: Notes, type: CatalogType, schema: SchemaSettings): void {
  const directive = readDirective(type.comment);
  const name = qualifiedName(schema.name, type.name);
  const { name: plain, origin } = nameOf(type.name, type.comment, schema);
  const mappings = readMappings(directive);
  const values = (type.labels ?? []).map((label): EnumValue => ({ label, name: mappings.get(label) ?? label }));
  const why = whyOpaque(plain, values);
  if (why) {
    notes.exclusions.push({ object: 'enum', id: type.id, name, ...why });
    return;
  }
  const typeName = names.claimEnum({ name: plain, schema: schema.name, inflection: schema.inflection });
  if (typeName !== plain) {
    const reason = `the name "${plain}", or that of its filter, is already taken, so it is called "${typeName}"; ${rename}`;
    notes.renamings.push({ object: 'enum', id: type.id, name, reason });
  }
  if (origin === 'adapted') notes.renamings.push({ object: 'enum', id: type.id, name, reason: whyAdapted(type.name, typeName, rename) });
  const unique = values.filter((value, position) => values.findIndex((other) => other.name === value.name) === position);
  for (const value of values) {
    const why = whyUnlisted(value, unique);
    if (why) notes.exclusions.push({ object: 'enum value', id: type.id, name: `${name}.${value.label}`, ...why });
  }
  context.enums.set(type.id, {
    id: type.id,
    schema: schema.name,
    name: type.name,
    typeName,
    description: readDescription(directive),
    values,
    mapped: values.some((value) => value.name !== value.label),
    filtersLists: false,
    introspection: schema.introspection,
  });
}

/** Names the filters of lists, an addition: an enum has none if the name is taken. */
export function claimListFilters({ enums, schemas, catalog }: BuildContext, names: ClaimedNames): void {
  for (const [id, enumType] of enums) {
    const { additions } = schemas.get(catalog.types.get(id)!.schemaId)!;
    if (additions.has('enums') && names.claimListFilter(enumType.typeName)) enums.set(id, { ...enumType, filtersLists: true });
  }
}

const rename = 'choose another with the comment directive {"name": "..."}';

/** Why an enum is Opaque: GraphQL enums need a name and at least one value. */
function whyOpaque(typeName: string, values: readonly EnumValue[]): Excluded | undefined {
  if (!isFreeName(typeName)) {
    return new Excluded('illegal-name', `"${typeName}" is not a valid GraphQL name, so its values are Opaque; ${rename}`);
  }
  if (values.some(({ name }) => isEnumValueName(name))) return undefined;
  const remedy = 'name them in the "mappings" of its comment directive';
  return new Excluded('illegal-name', `none of its labels is a valid GraphQL name, so its values are Opaque; ${remedy}`);
}

/** Why the schema does not list a value. It stays in the model, because rows can still contain it. */
function whyUnlisted(value: EnumValue, unique: readonly EnumValue[]): Excluded | undefined {
  const remedy = 'choose another name in the "mappings" of the comment directive';
  if (!unique.includes(value)) return new Excluded('name-taken', `another value already has the name "${value.name}"; ${remedy}`);
  if (isEnumValueName(value.name)) return undefined;
  return new Excluded('illegal-name', `"${value.name}" is not a valid GraphQL name; ${remedy}`);
}
