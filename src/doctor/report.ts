/** The doctor's report: plain data, deterministic for the same database. */
import type { Exclusion, TableKind } from '../model/model.ts';
import { type FindingCode, findingCodes, type Severity } from './finding-codes.ts';

/** The findings about the exposed schemas as one role sees them. */
export interface DoctorReport {
  readonly role: string;
  /** The exposed schemas, in the order of the setting. */
  readonly schemas: readonly string[];
  /** The number of findings of each severity. */
  readonly summary: Readonly<Record<Severity, number>>;
  /** Errors, then warnings, then infos; each sorted by code, kind and name. */
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly severity: Severity;
  readonly code: FindingCode;
  readonly object: FindingObject;
  /** Qualified name: `public.account.balance`, `public.total(integer)`. */
  readonly name: string;
  /** What is wrong, and what to do. */
  readonly message: string;
  /** SQL that fixes it; null if the fix needs a decision. */
  readonly remedy: string | null;
  /** What else is missing from the API because of it: `column public.account.id`. */
  readonly contains: readonly string[];
  /** Partitions, or their parts, with the same finding: `table public.sale_2020`. Absent if there are none. */
  readonly partitions?: readonly string[];
}

export type FindingObject = Exclusion['object'] | TableKind | 'role' | 'policy' | 'extension';

/** Makes a finding with the severity of its code. */
export function finding(
  code: FindingCode,
  object: FindingObject,
  name: string,
  message: string,
  more: { readonly remedy?: string | null; readonly contains?: readonly string[] } = {},
): Finding {
  const { remedy = null, contains = [] } = more;
  return { severity: findingCodes[code].severity, code, object, name, message, remedy, contains };
}

const severities: readonly Severity[] = ['error', 'warning', 'info'];

/** The order of a report. */
export function compareFindings(one: Finding, other: Finding): number {
  const bySeverity = severities.indexOf(one.severity) - severities.indexOf(other.severity);
  return bySeverity || compareText(one.code, other.code) || compareText(one.object, other.object) || compareText(one.name, other.name);
}

/** Compares by code units, so that the order is the same on every machine. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
