/**
 * The fields of Query that look up rows by unique keys other than `primaryKey`: those of unique constraints and of unique indexes without
 * condition or expression, if the role may select their columns.
 */
import type { CatalogTable } from '../../catalog/catalog.ts';
import { type BuildContext, columnByNumber, type Notes, privilegesOn } from '../build-context.ts';
import type { UniqueLookup } from '../model.ts';
import type { ClaimedNames } from '../naming/claimed-names.ts';
import { lookupFieldName } from '../naming/graphql-names.ts';
import { columnNameOf, inClaimOrder, isFreeName, qualifiedName } from '../naming/names.ts';
import { identifies } from '../types/named-types.ts';
import type { LazyTable, TableTraits } from './lazy-table.ts';
import { isComparable } from './type-access.ts';
import { columnTypeOf } from './value-types.ts';

/** Builds the lookups of all tables. Everything else must have claimed its name already. */
export function* buildLookups(context: BuildContext, names: ClaimedNames, { renamings }: Notes): Generator<void, UniqueLookup[]> {
  const lookups: UniqueLookup[] = [];
  const tables = [...context.tables.values()].filter(({ traits: { additions, key } }) => key !== null && additions.has('uniqueLookups'));
  const inOrder = inClaimOrder(tables, context.schemas, ({ traits: { catalogTable, schema, plainName } }) => ({
    schemaId: schema.id,
    catalogName: catalogTable.name,
    origin: plainName.origin,
  }));
  for (const table of inOrder) {
    for (const { columns, fieldNames } of lookupKeysOf(context, table)) {
      const plain = lookupFieldName(table, fieldNames);
      const fieldName = names.claimLookup(plain);
      lookups.push({ fieldName, table, columns });
      if (fieldName === plain) continue;
      const reason = `the name "${plain}" is already taken, so its lookup by ${columns.join(', ')} is called "${fieldName}"`;
      renamings.push({ object: table.kind, id: table.id, name: qualifiedName(table.schema, table.name), reason });
    }
    yield;
  }
  return lookups;
}

interface LookupKey {
  readonly columns: readonly string[];
  readonly fieldNames: readonly string[];
}

/** The keys in the order of their columns in the table, not of the ids of indexes, which change when a dump is restored. */
function lookupKeysOf(context: BuildContext, { traits }: LazyTable): LookupKey[] {
  const { catalogTable, key } = traits;
  const seen = new Set([setOf((key ?? []).map(({ number }) => number))]);
  const unique = uniqueIndexes(catalogTable).toSorted(compareNumbers);
  return unique.flatMap((numbers) => {
    if (seen.has(setOf(numbers))) return [];
    seen.add(setOf(numbers));
    return lookupKey(context, traits, numbers) ?? [];
  });
}

/** None of a table that others inherit from: its indexes do not cover their rows. */
function uniqueIndexes({ hasChildren, indexes }: CatalogTable): (readonly number[])[] {
  return hasChildren ? [] : indexes.filter(({ unique }) => unique).map(({ columns }) => columns);
}

function setOf(numbers: readonly number[]): string {
  return numbers.toSorted((one, other) => one - other).join();
}

function compareNumbers(one: readonly number[], other: readonly number[]): number {
  const differing = one.findIndex((number, index) => number !== other[index]);
  return differing === -1 ? one.length - other.length : (one[differing] ?? 0) - (other[differing] ?? 0);
}

/** The key, if the role may select every column, and each is a scalar that keys can have, with a legal name. */
function lookupKey(context: BuildContext, traits: TableTraits, numbers: readonly number[]): LookupKey | undefined {
  const { catalogTable } = traits;
  const columns = numbers.flatMap((number) => columnByNumber(catalogTable, number) ?? []);
  const fieldNames = columns.map((column) => columnNameOf(traits, column).name);
  if (columns.length < numbers.length || columns.length === 0) return undefined;
  for (const [index, column] of columns.entries()) {
    const catalogType = context.catalog.types.get(column.typeId);
    if (!privilegesOn(context, catalogTable, column).select || !isFreeName(fieldNames[index] ?? '')) return undefined;
    if (!identifies(columnTypeOf(context, column)) || (catalogType && !isComparable(context, catalogType))) return undefined;
  }
  return { columns: columns.map(({ name }) => name), fieldNames };
}
