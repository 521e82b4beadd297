/** Findings about comment directives that are ignored. */
import type { DirectiveProblem } from '../model/check-directives.ts';
import { type Finding, finding } from './report.ts';

export function reportDirectives(problems: readonly DirectiveProblem[]): Finding[] {
  return problems.map(({ fault, object, name, message }) =>
    finding(fault === 'broken' ? 'broken-directive' : 'ignored-directive', object, name, message),
  );
}
