/**
 * Who gets a name first: objects in an earlier schema of the setting, then those with a name from a directive, then by PostgreSQL's name.
 * Never by oid, which changes when a dump is restored.
 */
import type { SchemaSettings } from './build-context.ts';

/** What the order depends on. */
export interface ClaimPlace {
  readonly schemaId: number;
  /** PostgreSQL's name. */
  readonly source: string;
  /** Whether a directive gives the name. */
  readonly explicit: boolean;
}

/** The items in the order in which they take their names. What is in no exposed schema comes last. */
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

/** By code points, whatever the locale. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
