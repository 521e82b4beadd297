/** What an attack is given, and what it tells. */
import type { Arena } from './start-arena.ts';
import type { Tally } from './tally.ts';

export interface Attack {
  /** For `--attacks`. */
  readonly name: string;
  /** For the report. */
  readonly title: string;
  /** How long it lasts, where that is not `--seconds`. */
  readonly seconds?: number;
  /** Flags of `rowgraph serve`, for versions that know them. */
  readonly flags?: readonly string[];
  /** It takes connections away from everybody, so that a victim may see failures: writes that were under way, and waits without end. */
  readonly isOutage?: boolean;
  /** Attacks until the signal; resolves when the attacker has given up, whatever the server did. */
  run(arena: Arena, until: AbortSignal, tally: Tally): Promise<void>;
}
