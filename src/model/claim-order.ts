/**
 * Which object gets a name first: by position of its schema in the setting, then names given by a directive, then by name in PostgreSQL.
 * Never by oid, which changes when a dump is restored.
 */
import type { SchemaSettings } from './build-context.ts';

export interface ClaimPlace {
  readonly schemaId: number;
  /** The name in PostgreSQL. */
  readonly source: string;
  /** Whether a directive gives the name. */
  readonly explicit: boolean;
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
  places.sort(
    (one, other) =>
      positionOf(one) - positionOf(other) || Number(other.explicit) - Number(one.explicit) || compareText(one.source, other.source),
  );
  return places.map(({ item }) => item);
}

/** Compares by code units, independent of the locale. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
