/** The result of a build step that leaves an object out of the model, with the reason. */
import type { Exclusion, ExclusionCause, LackingPrivilege } from './model.ts';

export class Excluded implements Pick<Exclusion, 'cause' | 'reason' | 'lacking'> {
  readonly cause: ExclusionCause;
  readonly reason: string;
  readonly lacking: LackingPrivilege | null;

  constructor(cause: ExclusionCause, reason: string, lacking: LackingPrivilege | null = null) {
    this.cause = cause;
    this.reason = reason;
    this.lacking = lacking;
  }
}

export function notGranted(reason: string, privilege: LackingPrivilege['privilege'], id: number, column: string | null = null): Excluded {
  return new Excluded('not-granted', reason, { privilege, id, column });
}
