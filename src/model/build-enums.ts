/** The enums of the exposed schemas. One without a usable name is left out; its columns are Opaque then. */
import type { CatalogType } from '../catalog/catalog.ts';
import { readDescription, readDirective, readMappings, readName } from './directives.ts';
import type { Draft, SchemaSettings } from './draft.ts';
import { LeftOut } from './left-out.ts';
import type { EnumValue } from './model.ts';
import { isEnumValueName, isFreeName, typeNameOf } from './names.ts';
import { qualifiedName } from './object-names.ts';

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
  const nameless = whyNameless(draft, typeName);
  if (nameless) {
    draft.omissions.push({ object: 'enum', id: type.id, name, ...nameless });
    return;
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

function whyNameless(draft: Draft, typeName: string): LeftOut | undefined {
  const remedy = 'so that its values are Opaque: give it another name with the comment directive {"name": "..."}';
  if (!isFreeName(typeName)) return new LeftOut('illegal-name', `"${typeName}" is no GraphQL name, ${remedy}`);
  const taken = draft.names.claimEnum(typeName);
  return taken === undefined ? undefined : new LeftOut('name-taken', `the name "${taken}" is taken by another type, ${remedy}`);
}

/** Values with illegal names stay in the model: they are read as they are, only the schema cannot list them. */
function whyUnlisted(value: EnumValue, unique: readonly EnumValue[]): LeftOut | undefined {
  const remedy = 'give it a name of its own in the "mappings" of the comment directive';
  if (!unique.includes(value)) return new LeftOut('name-taken', `another value has the name "${value.name}" already: ${remedy}`);
  if (isEnumValueName(value.name)) return undefined;
  return new LeftOut('illegal-name', `"${value.name}" is no GraphQL name: ${remedy}`);
}
