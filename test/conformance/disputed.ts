/**
 * The two lists of the project that bear on the vectors: steps that are held to be wrong (DISPUTED.md), and what the schema has beyond
 * the reference's (docs/differences.md).
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface DisputedStep {
  readonly file: string;
  readonly about: string;
  readonly reason: string;
}

/** Reads the list items of DISPUTED.md: "- `file.yaml` — "about of the step": reason". */
export function readDisputedSteps(): DisputedStep[] {
  const lines = readText(path.join(import.meta.dirname, 'DISPUTED.md')).split('\n');
  return lines
    .filter((line) => line.startsWith('- `'))
    .map((line) => {
      const match = /^- `(?<file>[^`]+)` — "(?<about>.+?)": (?<reason>.+)$/.exec(line);
      if (!match?.groups) throw new Error(`DISPUTED.md: not a list item as the runner reads it: ${line}`);
      const { file = '', about = '', reason = '' } = match.groups;
      return { file, about, reason };
    });
}

/**
 * Tells whether `docs/differences.md` names a member of the schema in backticks; `<…>` in such a name stands for any part of a name,
 * as in `<table>ByPk`.
 */
export function readKnownAdditions(): (name: string) => boolean {
  const text = readText(path.join(import.meta.dirname, '../../docs/differences.md'));
  const names = [...text.matchAll(/`([A-Za-z_<][\w<> ]*)`/g)].map(([, name = '']) => name.replace(/<[^>]*>/g, '\\w+'));
  const pattern = new RegExp(`^(?:${names.join('|')})$`);
  return (name) => names.length > 0 && pattern.test(name);
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
