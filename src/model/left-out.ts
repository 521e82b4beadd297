/** What a step gives instead of a part of the model: why there is none. */
import type { LackingPrivilege, Omission, OmissionCause } from './model.ts';

export class LeftOut implements Pick<Omission, 'cause' | 'reason' | 'lacking'> {
  readonly cause: OmissionCause;
  readonly reason: string;
  readonly lacking: LackingPrivilege | null;

  constructor(cause: OmissionCause, reason: string, lacking: LackingPrivilege | null = null) {
    this.cause = cause;
    this.reason = reason;
    this.lacking = lacking;
  }
}

/** Left out for want of a privilege. */
export function notGranted(reason: string, privilege: LackingPrivilege['privilege'], id: number, column: string | null = null): LeftOut {
  return new LeftOut('not-granted', reason, { privilege, id, column });
}
