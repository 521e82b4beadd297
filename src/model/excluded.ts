/** What a step returns instead of a part of the model: why there is none. */
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

/** Left out because a privilege is missing. */
export function notGranted(reason: string, privilege: LackingPrivilege['privilege'], id: number, column: string | null = null): Excluded {
  return new Excluded('not-granted', reason, { privilege, id, column });
}
