/**
 * The steps of the vectors that the project holds to be wrong, as DISPUTED.md lists them.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseKind } from './case-database.ts';

export interface DisputedStep {
  readonly file: string;
  readonly about: string;
  readonly reason: string;
  /** Where only one kind of database answers otherwise. */
  readonly kind: DatabaseKind | null;
  /** Whether an addition makes the difference. */
  readonly byAddition: boolean;
}

/** Reads the list items of DISPUTED.md that hold for a kind of database, with or without additions. */
export function readDisputedSteps(kind: DatabaseKind, hasAdditions: boolean): DisputedStep[] {
  return readList().filter((step) => (step.kind === null || step.kind === kind) && (hasAdditions || !step.byAddition));
}

/** Items are: - `file.yaml` — "about of the step": reason; or, after the step, "on PGlite:", "on PostgreSQL:" or "with additions:". */
function readList(): DisputedStep[] {
  const lines = readFileSync(path.join(import.meta.dirname, 'DISPUTED.md'), 'utf8').split('\n');
  return lines
    .filter((line) => line.startsWith('- '))
    .map((line) => {
      const match =
        /^- `(?<file>[^`]+)` — "(?<about>.+?)"(?: on (?<database>PGlite|PostgreSQL)| (?<addition>with additions))?: (?<reason>.+)$/.exec(
          line,
        );
      if (!match?.groups) throw new Error(`DISPUTED.md: not a list item as the runner reads it: ${line}`);
      const { file = '', about = '', database, addition, reason = '' } = match.groups;
      if (!existsSync(path.join(import.meta.dirname, file))) throw new Error(`DISPUTED.md: there is no ${file}`);
      return {
        file,
        about,
        reason,
        kind: database === undefined ? null : database === 'PGlite' ? 'pglite' : 'postgres',
        byAddition: addition !== undefined,
      };
    });
}
