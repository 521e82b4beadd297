/** The comment directives that are ignored, as findings. */
import type { DirectiveProblem } from '../model/check-directives.ts';
import { type Finding, finding } from './report.ts';

/** A finding for each problem. */
export function reportDirectives(problems: readonly DirectiveProblem[]): Finding[] {
  return problems.map(({ fault, object, name, message }) =>
    finding(fault === 'broken' ? 'broken-directive' : 'ignored-directive', object, name, message),
  );
}
