/**
 * A place in the write-ahead log of a cluster (https://www.postgresql.org/docs/current/wal-internals.html): what was committed before it is
 * visible wherever the log has been replayed up to it. Clients hand it on as `system.timeline.lsn`, such as `7713161854613678706.1.0/3000148`.
 */
export interface Position {
  /** The system identifier, which a cluster shares with its standbys. */
  readonly system: string;
  /** A promotion begins another one, and places on different timelines cannot be compared. */
  readonly timeline: number;
  readonly lsn: bigint;
}

/** The header of requests and responses, in lower case. */
export const positionHeader = 'rowgraph-position';

/** What a response says of the place in the log after what its request wrote. */
export interface ResponsePosition {
  readonly text: string;
  /** For how many milliseconds it matters: by then, every replica that gets queries has come to it. */
  readonly lifetime: number;
}

const syntax = /^(\d{1,20})\.(\d{1,10})\.([0-9A-F]{1,8}\/[0-9A-F]{1,8})$/i;

/** Null for what is no position. */
export function parsePosition(text: string): Position | null {
  const [, system, timeline, lsn] = syntax.exec(text) ?? [];
  return system === undefined ? null : { system, timeline: Number(timeline), lsn: parseLsn(lsn!) };
}

/** Bytes since the beginning of the log. Takes the text of a `pg_lsn`. */
export function parseLsn(text: string): bigint {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function writeLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase();
}

export function writePosition({ system, timeline, lsn }: Position): string {
  return `${system}.${timeline}.${writeLsn(lsn)}`;
}

/** The later of what two responses say. */
export function laterOf(one: ResponsePosition | undefined, other: ResponsePosition | undefined): ResponsePosition | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const [first, second] = [parsePosition(one.text), parsePosition(other.text)];
  return latestOf(first, second) === first ? one : other;
}

/** The later of two positions of the same cluster; of different clusters, the first. */
export function latestOf(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return one ?? other;
  if (one.system !== other.system) return one;
  const isLater = one.timeline === other.timeline ? other.lsn > one.lsn : other.timeline > one.timeline;
  return isLater ? other : one;
}
