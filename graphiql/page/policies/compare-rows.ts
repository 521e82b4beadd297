/** Compares the rows of one table that two callers see. */

export type Row = Readonly<Record<string, unknown>>;

/** The rows that a caller sees, in the order of the table. */
export interface SeenRows {
  /** Whether the table is in the caller's API. */
  readonly hasTable: boolean;
  /** By the identity of each row. */
  readonly rows: ReadonlyMap<string, Row>;
  /** The columns that the caller may read. */
  readonly columns: readonly string[];
  /** Whether there are more rows than were read. */
  readonly isCut: boolean;
  /** Of all rows that the caller sees; null if the API does not count them. */
  readonly total: number | null;
}

export type SeenBy = 'both' | 'one' | 'other';

export interface ComparedRow {
  readonly key: string;
  readonly seenBy: SeenBy;
  readonly one: Row | null;
  readonly other: Row | null;
  /** The columns that both may read, with different values. */
  readonly differing: ReadonlySet<string>;
}

export interface ComparedColumn {
  readonly name: string;
  readonly readBy: SeenBy;
}

export interface RowComparison {
  readonly columns: readonly ComparedColumn[];
  readonly rows: readonly ComparedRow[];
  readonly counts: Readonly<Record<SeenBy | 'differing', number>>;
  /** Rows that were left out, because whether both see them was not found out. */
  readonly undecided: number;
}

/**
 * The rows of one caller whose absence from the other's says nothing: those behind the last row that both have, if there are more rows than
 * were read of the other. Before it, both lists have all rows that their callers see, because they have the same order.
 */
export function findUndecided(rows: SeenRows, others: SeenRows): readonly string[] {
  if (!others.isCut) return [];
  const keys = [...rows.rows.keys()];
  const last = keys.findLastIndex((key) => others.rows.has(key));
  return keys.slice(last + 1);
}

/** `known`: keys of `findUndecided` that have been looked up, so that their absence says that the other caller does not see them. */
export function compareRows(one: SeenRows, other: SeenRows, known: ReadonlySet<string> = new Set()): RowComparison {
  const unknown = new Set([...findUndecided(one, other), ...findUndecided(other, one)].filter((key) => !known.has(key)));
  const shared = new Set(one.columns.filter((name) => other.columns.includes(name)));
  const rows = mergeKeys([...one.rows.keys()], [...other.rows.keys()]).flatMap((key): ComparedRow[] => {
    const [ofOne, ofOther] = [one.rows.get(key) ?? null, other.rows.get(key) ?? null];
    const seenBy = ofOne === null ? 'other' : ofOther === null ? 'one' : 'both';
    if (seenBy !== 'both' && unknown.has(key)) return [];
    const differing = ofOne === null || ofOther === null ? [] : [...shared].filter((name) => !isSame(ofOne[name], ofOther[name]));
    return [{ key, seenBy, one: ofOne, other: ofOther, differing: new Set(differing) }];
  });
  const count = (seenBy: SeenBy): number => rows.filter((row) => row.seenBy === seenBy).length;
  const names = mergeKeys(one.columns, other.columns);
  return {
    columns: names.map((name) => ({ name, readBy: shared.has(name) ? 'both' : one.columns.includes(name) ? 'one' : 'other' })),
    rows,
    counts: {
      both: count('both'),
      one: count('one'),
      other: count('other'),
      differing: rows.filter(({ differing }) => differing.size > 0).length,
    },
    undecided: [...one.rows.keys(), ...other.rows.keys()].filter((key) => unknown.has(key) && !(one.rows.has(key) && other.rows.has(key)))
      .length,
  };
}

/** Both lists in one, each in its order. */
export function mergeKeys(one: readonly string[], other: readonly string[]): readonly string[] {
  const [ofOne, ofOther] = [new Set(one), new Set(other)];
  const merged: string[] = [];
  let place = 0;
  for (const key of one) {
    if (ofOther.has(key)) {
      while (place < other.length && other[place] !== key) {
        if (!ofOne.has(other[place]!)) merged.push(other[place]!);
        place += 1;
      }
      place += 1;
    }
    merged.push(key);
  }
  return [...new Set([...merged, ...other.slice(place).filter((key) => !ofOne.has(key))])];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
