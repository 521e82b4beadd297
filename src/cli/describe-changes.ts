/** The changes between two versions of the API as text for a person: for each role its changes, breaking ones first. */
import { shortenMessage } from '../errors/api-error.ts';
import type { RoleChanges } from './compare-schemas.ts';
import type { Paint } from './terminal.ts';

const effects = ['breaking', 'dangerous', 'safe'] as const;
const colours = { breaking: 'red', dangerous: 'yellow', safe: 'cyan' } as const;

/** The text, with a trailing line break. */
export function describeChanges(changes: readonly RoleChanges[], paint: Paint): string {
  const lines = changes.flatMap((ofRole) => {
    const counts = effects.flatMap((effect) => (ofRole[effect].length > 0 ? [`${ofRole[effect].length} ${effect}`] : []));
    const title = paint('bold', `Role ${ofRole.role}: ${counts.join(', ') || 'no changes'}`);
    const width = Math.max(0, ...effects.flatMap((effect) => ofRole[effect].map(({ type }) => type.length)));
    const described = effects.flatMap((effect) =>
      ofRole[effect].map(
        ({ type, description }) => `  ${paint(colours[effect], effect.padEnd(9))}  ${type.padEnd(width)}  ${onOneLine(description)}`,
      ),
    );
    return [title, ...described];
  });
  return `${lines.join('\n')}\n`;
}

/** A description by a user may have any length, and contain control sequences of a terminal. */
function onOneLine(text: string): string {
  return shortenMessage(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim());
}
