/** Assembles composite types, and what functions return that have several columns, as tables without keys. */
import { modifiedType } from './assemble-tables.ts';
import type { CatalogColumn, CatalogTable, CatalogType } from './catalog.ts';
import type { CatalogComments, RawAttribute, RawCatalog, RawFunction } from './raw-catalog.ts';

const noEffects = { readsSession: false, changesSession: false };

const noTable = {
  kind: 'c',
  rowSecurity: false,
  roleIndependent: true,
  readEffects: noEffects,
  writeEffects: noEffects,
  placement: null,
  hasChildren: false,
  keepsNotNull: false,
  canInsert: false,
  canUpdate: false,
  canDelete: false,
  fillsColumns: false,
  runsBeforeInsert: false,
  indexes: [],
  arbiters: [],
} as const satisfies Partial<CatalogTable>;

/** Attributes and outputs can be null whatever their types say. */
const noColumn = {
  notNull: false,
  collation: null,
  automatic: false,
  generatedAlways: false,
  hasDefault: false,
  refusesNull: false,
  searchConfig: null,
  distanceIndexes: [],
} as const satisfies Partial<CatalogColumn>;

export function assembleComposites(raw: RawCatalog, comments: CatalogComments, types: ReadonlyMap<number, CatalogType>): CatalogTable[] {
  const shownTypes = new Map(raw.types.map(({ id, shown }) => [id, shown]));
  const attributes = Map.groupBy(raw.attributes, ({ tableId }) => tableId);
  const toAttribute = ({ tableId, shownType, ...column }: RawAttribute): CatalogColumn => ({
    ...column,
    ...noColumn,
    modifiedType: modifiedType(types.get(column.typeId), shownType, shownTypes.get(column.typeId)),
    comment: comments.on('relation', tableId, column.number),
  });
  const ofTypes = raw.composites.map(
    ({ typeId, ...type }): CatalogTable => ({
      ...type,
      ...noTable,
      comment: comments.on('type', typeId),
      columns: (attributes.get(type.id) ?? []).map(toAttribute),
    }),
  );
  return [...ofTypes, ...raw.functions.flatMap(resultOf)];
}

/** A single output is the value of the function. PostgreSQL calls outputs without a name `column1`, `column2` and so on. */
function resultOf({ id, schemaId, name, argumentNames, argumentModes, allTypes }: RawFunction): CatalogTable | [] {
  const positions = (argumentModes ?? []).flatMap((mode, position) => ('obt'.includes(mode) ? position : []));
  if (positions.length < 2) return [];
  const columns = positions.map(
    (position, index): CatalogColumn => ({
      ...noColumn,
      number: index + 1,
      name: argumentNames?.[position] || `column${index + 1}`,
      typeId: allTypes?.[position] ?? 0,
      maxLength: null,
      modifiedType: null,
      comment: null,
    }),
  );
  return { ...noTable, id: -id, schemaId, name, comment: null, columns };
}
