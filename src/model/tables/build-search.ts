/**
 * What a search of a table looks at: a column of type tsvector, the one that the table's directive names or else the first, or the texts
 * of the columns that the directive lists. Rows can only be searched by what the role may select.
 */
import type { Catalog, CatalogColumn, CatalogSearchConfig, CatalogTable } from '../../catalog/catalog.ts';
import { type BuildContext, privilegesOn } from '../build-context.ts';
import { type DeclaredSearch, type Directive, readSearch, type SearchWeight } from '../directives.ts';
import type { Column, TableSearch } from '../model.ts';
import { enumValueNames } from '../naming/names.ts';
import { operandType } from '../types/named-types.ts';
import { postgresType } from '../types/postgres-types.ts';
import type { ValueType } from '../value-type.ts';
import type { TableTraits } from './lazy-table.ts';

/** What is searched, as the catalog has it. Without parts, the vector is. */
export interface SearchedColumns {
  readonly vector: CatalogColumn | null;
  readonly parts: readonly { readonly column: CatalogColumn; readonly weight: SearchWeight }[];
  readonly config: string | null;
}

/** The configuration of texts whose directive names none: it keeps words as they are. Only vectors may depend on PostgreSQL's setting. */
const plainConfig = 'pg_catalog.simple';

/** Null if there is nothing to search, the role may not select it, or the directive names what does not exist. */
export function findSearched(context: BuildContext, table: CatalogTable, directive: Directive): SearchedColumns | null {
  const declared = readSearch(directive);
  const usable = table.columns.filter((column) => privilegesOn(context, table, column).select);
  const { catalog } = context;
  const config = declared?.config ? findConfig(catalog.searchConfigs, declared.config) : undefined;
  if (declared?.config && config === undefined) return null;
  if (declared === undefined || declared.columns.length === 0) {
    const vectors = usable.filter((column) => isVector(catalog, column));
    const wanted = declared?.column ?? null;
    const vector = wanted === null ? vectors[0] : vectors.find(({ name }) => name === wanted);
    if (vector === undefined) return null;
    const own = vector.searchConfig === null ? undefined : findConfig(catalog.searchConfigs, vector.searchConfig);
    return { vector, parts: [], config: config ?? own ?? null };
  }
  const parts = declared.columns.flatMap(([name, weight]) => {
    const column = usable.find((each) => each.name === name);
    return column && isText(catalog, column) ? [{ column, weight }] : [];
  });
  return parts.length < declared.columns.length ? null : { vector: null, parts, config: config ?? plainConfig };
}

/** What the declared search of a table must be, if it names what is not there; null if all of it is. */
export function faultOfSearch(
  catalog: Catalog,
  { columns }: CatalogTable,
  { column, columns: texts, config }: DeclaredSearch,
): string | null {
  const columnOf = (wanted: string): CatalogColumn | undefined => columns.find(({ name }) => name === wanted);
  const missing = [...(column === null ? [] : [column]), ...texts.map(([name]) => name)].find((name) => !columnOf(name));
  if (missing !== undefined) return `an object whose columns exist; "${missing}" does not`;
  const vector = column === null ? undefined : columnOf(column);
  if (vector && !isVector(catalog, vector)) return `an object whose "column" is of type tsvector; "${vector.name}" is not`;
  if (texts.length === 0 && !columns.some((each) => isVector(catalog, each)))
    return 'an object with "columns", because the table has no column of type tsvector';
  const [other] = texts.filter(([name]) => !isText(catalog, columnOf(name)!));
  if (other) return `an object whose "columns" are texts; "${other[0]}" is not`;
  if (config === null || findConfig(catalog.searchConfigs, config) !== undefined) return null;
  const known = catalog.searchConfigs.map(({ schema, name }) => (schema === 'pg_catalog' ? name : `${schema}.${name}`)).sort();
  return `an object whose "config" exists; "${config}" does not (there are ${known.join(', ')})`;
}

function baseOf({ types }: Catalog, { typeId }: CatalogColumn) {
  const type = types.get(typeId);
  return type?.kind === 'd' ? types.get(type.baseId) : type;
}

function isVector(catalog: Catalog, column: CatalogColumn): boolean {
  const type = baseOf(catalog, column);
  return type !== undefined && postgresType(type).isSearched;
}

function isText(catalog: Catalog, column: CatalogColumn): boolean {
  const type = baseOf(catalog, column);
  return type !== undefined && postgresType(type).scalar === 'String' && type.elementId === 0;
}

/**
 * The configuration of a name, qualified or not, as SQL reads a regconfig. One outside of pg_catalog is given by its oid, because the role
 * may not be able to use its schema.
 */
function findConfig(configs: readonly CatalogSearchConfig[], written: string): string | undefined {
  return preferredConfig(configs.filter(({ schema, name }) => [name, `${schema}.${name}`].includes(written.replaceAll('"', ''))));
}

/** Of those of one name, as SQL. */
function preferredConfig(named: readonly CatalogSearchConfig[]): string | undefined {
  const found = named.find(({ schema }) => schema === 'pg_catalog') ?? named[0];
  return found && (found.schema === 'pg_catalog' ? `pg_catalog.${found.name}` : String(found.id));
}

/** The configurations that clients can name, as SQL. */
export function searchConfigsOf({ searchConfigs }: Catalog): ReadonlyMap<string, string> {
  const byName = Map.groupBy(searchConfigs, ({ name }) => name);
  const names = [...byName.keys()].sort();
  const values = enumValueNames(names);
  return new Map(names.map((name, index) => [values[index]!, preferredConfig(byName.get(name) ?? []) ?? plainConfig]));
}

/** `columns` are those of the table that have names. */
export function buildSearch({ searched }: TableTraits, columns: readonly Column[]): TableSearch | null {
  if (searched === null) return null;
  const { vector, parts, config } = searched;
  const texts = columns.filter(({ selectable, type }) => selectable && isTextType(type));
  return {
    vector: vector?.name ?? null,
    parts: parts.map(({ column, weight }) => ({ name: column.name, weight })),
    config,
    shown: vector === null ? texts.filter(({ name }) => parts.some(({ column }) => column.name === name)) : texts,
  };
}

function isTextType(type: ValueType): boolean {
  const operand = operandType(type);
  return operand.kind === 'scalar' && operand.scalar === 'String';
}
