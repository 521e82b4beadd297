/** The definition of an attack. */
import type { Arena } from './start-arena.ts';
import type { Tally } from './tally.ts';

export interface Attack {
  /** Selects it with `--attacks`. */
  readonly name: string;
  /** Its title in the report. */
  readonly title: string;
  /** How long it lasts, if not `--seconds`. */
  readonly seconds?: number;
  /** Flags of `rowgraph serve`, for versions that know them. */
  readonly flags?: readonly string[];
  /** Whether it cuts everybody's connections, so that a victim may see failures: writes that were under way, and waits without end. */
  readonly isOutage?: boolean;
  /** Attacks until the signal; resolves when the attacker has stopped, whatever the server did. */
  run(arena: Arena, until: AbortSignal, tally: Tally): Promise<void>;
}
