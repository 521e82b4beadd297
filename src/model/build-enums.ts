/** The enums of the exposed schemas. One without a usable name is left out; its columns are Opaque then. */
import type { CatalogType } from '../catalog/catalog.ts';
import { readDescription, readDirective, readMappings, readName } from './directives.ts';
import { type Draft, qualifiedName, type SchemaSettings } from './draft.ts';
import type { EnumValue } from './model.ts';
import { isFreeName, typeNameOf } from './names.ts';

/** Adds the enums to the draft, or the reason why one is left out to the omissions. */
export function addEnums(draft: Draft): void {
  for (const type of draft.catalog.types.values()) {
    const schema = draft.schemas.get(type.schemaId);
    if (schema && type.labels) addEnum(draft, type, type.labels, schema);
  }
}

function addEnum(draft: Draft, type: CatalogType, labels: readonly string[], schema: SchemaSettings): void {
  const directive = readDirective(type.comment);
  const name = qualifiedName(schema.name, type.name);
  const typeName = readName(directive, 'name') ?? typeNameOf(type.name, schema.inflection);
  const problem = !isFreeName(typeName) ? `"${typeName}" is no GraphQL name` : nameTaken(draft.names.claimEnum(typeName));
  if (problem !== undefined) {
    const reason = `${problem}, so that its values are Opaque: give it another name with the comment directive {"name": "..."}`;
    draft.omissions.push({ object: 'enum', name, reason });
    return;
  }
  const mappings = readMappings(directive);
  const values = labels.map((label): EnumValue => ({ label, name: mappings.get(label) ?? label }));
  const unique = values.filter((value, position) => values.findIndex((other) => other.name === value.name) === position);
  for (const value of values) {
    if (unique.includes(value)) continue;
    const reason = `another value has the name "${value.name}" already: give it a name of its own in the "mappings" of the comment directive`;
    draft.omissions.push({ object: 'enum value', name: `${name}.${value.label}`, reason });
  }
  draft.enums.set(type.id, {
    id: type.id,
    schema: schema.name,
    name: type.name,
    typeName,
    description: readDescription(directive),
    values: unique,
    mapped: unique.some((value) => value.name !== value.label),
    introspection: schema.introspection,
  });
}

function nameTaken(taken: string | undefined): string | undefined {
  return taken === undefined ? undefined : `the name "${taken}" is taken by another type`;
}
