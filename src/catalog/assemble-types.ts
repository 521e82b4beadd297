/** Assembles types, with the labels of exposed enums, from the result of the catalog query. */
import type { CatalogType } from './catalog.ts';
import type { CatalogComments } from './catalog-comments.ts';
import type { RawCatalog, RawType } from './raw-catalog.ts';

/** Assembles the types, keyed by id. */
export function assembleTypes(raw: RawCatalog, comments: CatalogComments): Map<number, CatalogType> {
  const schemas = new Map(raw.schemas.map(([id, name, quotedName]) => [id, { name, quotedName }]));
  const exposed = new Set(raw.setting);
  const quotedNames = new Map(raw.types.map(([id, , , quotedName]) => [id, quotedName]));
  const ownOperators = new Map(raw.ownOperators.map(([typeId, schemaId, functionId]) => [typeId, { schemaId, functionId }]));
  const arrayOperators = Map.groupBy(raw.arrayOperators, ([typeId]) => typeId);
  const labels = Map.groupBy(raw.labels, ([typeId]) => typeId);
  const types = raw.types.map((type): CatalogType => {
    const [id, schemaId, name, , kind, category, elementId, relationId, , base, oddlyOrdered, unordered, delimiter] = type;
    const schema = schemas.get(schemaId) ?? { name: '', quotedName: '' };
    const baseEnum = category === 'E' ? base : null;
    const isExposedEnum = kind === 'e' && exposed.has(schemaId);
    return {
      id,
      schemaId,
      schema: schema.name,
      name,
      kind,
      category,
      elementId,
      relationId,
      sql: typeSql(type, schema, quotedNames),
      enumSql: baseEnum?.[0] ?? null,
      enumSchema: baseEnum && { id: baseEnum[1], name: schemas.get(baseEnum[1])?.name ?? '' },
      baseSql: base?.[0] ?? null,
      oddlyOrdered,
      unordered,
      delimiter,
      operatorSchemaId: ownOperators.get(id)?.schemaId ?? 0,
      operatorIds: [
        ...[ownOperators.get(id)?.functionId ?? []].flat(),
        ...(arrayOperators.get(id) ?? []).map(([, functionId]) => functionId),
      ],
      labels: isExposedEnum ? (labels.get(id) ?? []).map(([, label]) => label) : null,
      comment: isExposedEnum ? comments.on('type', id) : null,
    };
  });
  return new Map(types.map((type) => [type.id, type]));
}

/** A type's name in SQL: qualified, unless it is in pg_catalog, which is always on the search path. */
function typeSql(
  [, , , quotedName, , , elementId, , shown]: RawType,
  schema: { readonly name: string; readonly quotedName: string },
  quotedNames: ReadonlyMap<number, string>,
): string {
  if (schema.name === 'pg_catalog') return shown;
  return elementId === 0 ? `${schema.quotedName}.${quotedName}` : `${schema.quotedName}.${quotedNames.get(elementId)}[]`;
}
