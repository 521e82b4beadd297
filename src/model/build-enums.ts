/** The enums of the exposed schemas. One without a usable name is left out; its columns are Opaque then. */
import type { CatalogType } from '../catalog/catalog.ts';
import { inClaimOrder } from './claim-order.ts';
import { computedOwner, whyForbidden } from './computed-functions.ts';
import { readDescription, readDirective, readMappings, readName } from './directives.ts';
import { type Draft, privilegesOn, type SchemaSettings } from './draft.ts';
import { LeftOut } from './left-out.ts';
import type { EnumValue } from './model.ts';
import { isEnumValueName, isFreeName, typeNameOf } from './names.ts';
import { qualifiedName } from './object-names.ts';

/** Adds the enums to the draft, or the reason why one is left out to the omissions. The tables have to be there. */
export function addEnums(draft: Draft): void {
  const used = usedTypes(draft);
  const exposed = [...draft.catalog.types.values()].filter(({ id, schemaId, labels }) => {
    return labels && draft.schemas.has(schemaId) && (draft.privileges.types.has(id) || used.has(id));
  });
  const inOrder = inClaimOrder(exposed, draft.schemas, ({ schemaId, name, comment }) => ({
    schemaId,
    source: name,
    explicit: readName(readDirective(comment), 'name') !== null,
  }));
  for (const type of inOrder) addEnum(draft, type, type.labels ?? [], draft.schemas.get(type.schemaId)!);
}

/** The types of visible columns and computed fields, and the elements of arrays: PostgreSQL reads and writes them without `usage`. */
function usedTypes(draft: Draft): ReadonlySet<number> {
  const { types, functions } = draft.catalog;
  const used = new Set<number>();
  const use = (id: number) => used.add(types.get(id)?.elementId || id);
  for (const { source } of draft.tables.values()) {
    for (const column of source.columns) {
      const { select, insert, update } = privilegesOn(draft, source, column);
      if (select || insert || update) use(column.typeId);
    }
  }
  for (const source of functions) {
    const owner = computedOwner(draft, source);
    if (owner && !whyForbidden(draft, owner.source, source)) use(source.resultTypeId);
  }
  return used;
}

function addEnum(draft: Draft, type: CatalogType, labels: readonly string[], schema: SchemaSettings): void {
  const directive = readDirective(type.comment);
  const name = qualifiedName(schema.name, type.name);
  const plain = readName(directive, 'name') ?? typeNameOf(type.name, schema.inflection);
  if (!isFreeName(plain)) {
    const remedy = 'so that its values are Opaque: give it another name with the comment directive {"name": "..."}';
    draft.omissions.push({
      object: 'enum',
      id: type.id,
      name,
      ...new LeftOut('illegal-name', `"${plain}" is not a GraphQL name, ${remedy}`),
    });
    return;
  }
  const typeName = draft.names.claimEnum({ name: plain, schema: schema.name, inflection: schema.inflection });
  if (typeName !== plain) {
    const reason = `the name "${plain}", or that of its filter, is taken: it is called "${typeName}"; to choose, give it another name with the comment directive {"name": "..."}`;
    draft.renamings.push({ object: 'enum', id: type.id, name, reason });
  }
  const mappings = readMappings(directive);
  const values = labels.map((label): EnumValue => ({ label, name: mappings.get(label) ?? label }));
  const unique = values.filter((value, position) => values.findIndex((other) => other.name === value.name) === position);
  for (const value of values) {
    const why = whyUnlisted(value, unique);
    if (why) draft.omissions.push({ object: 'enum value', id: type.id, name: `${name}.${value.label}`, ...why });
  }
  draft.enums.set(type.id, {
    id: type.id,
    schema: schema.name,
    name: type.name,
    typeName,
    description: readDescription(directive),
    values,
    mapped: values.some((value) => value.name !== value.label),
    introspection: schema.introspection,
  });
}

/** Values with illegal names stay in the model: they are read as they are, only the schema cannot list them. */
function whyUnlisted(value: EnumValue, unique: readonly EnumValue[]): LeftOut | undefined {
  const remedy = 'give it a name of its own in the "mappings" of the comment directive';
  if (!unique.includes(value)) return new LeftOut('name-taken', `another value has the name "${value.name}" already: ${remedy}`);
  if (isEnumValueName(value.name)) return undefined;
  return new LeftOut('illegal-name', `"${value.name}" is not a GraphQL name: ${remedy}`);
}
