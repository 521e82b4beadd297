/**
 * Which object gets a name first: adapted names last, then by position of its schema in the setting, then names given by a directive, then by
 * name in PostgreSQL. Never by oid, which changes when a dump is restored.
 */
import type { SchemaSettings } from './build-context.ts';
import type { PreferredName } from './preferred-name.ts';

export interface ClaimPlace {
  readonly schemaId: number;
  /** The name in PostgreSQL. */
  readonly source: string;
  readonly origin: PreferredName['origin'];
}

/** Sorts items into the order in which they claim names. Those in no exposed schema come last. */
export function inClaimOrder<Item>(
  items: Iterable<Item>,
  schemas: ReadonlyMap<number, SchemaSettings>,
  placeOf: (item: Item) => ClaimPlace,
): Item[] {
  const positions = new Map([...schemas.keys()].map((id, position) => [id, position]));
  const places = Array.from(items, (item) => ({ item, ...placeOf(item) }));
  const positionOf = ({ schemaId }: ClaimPlace) => positions.get(schemaId) ?? positions.size;
  const isLater = (place: ClaimPlace, origin: ClaimPlace['origin']) => Number(place.origin === origin);
  places.sort(
    (one, other) =>
      isLater(one, 'adapted') - isLater(other, 'adapted') ||
      positionOf(one) - positionOf(other) ||
      isLater(one, 'own') - isLater(other, 'own') ||
      compareText(one.source, other.source),
  );
  return places.map(({ item }) => item);
}

/** Compares by code units, independent of the locale. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
