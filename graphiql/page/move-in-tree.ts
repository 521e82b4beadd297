/** What a key does in a tree whose visible lines form a list. */

interface TreeLine {
  readonly name: string;
  readonly level: number;
  /** Null if it has no children. */
  readonly isOpen: boolean | null;
}

interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

export type TreeMove =
  | { readonly kind: 'go'; readonly place: number }
  | { readonly kind: 'open'; readonly isOpen: boolean }
  | { readonly kind: 'check' };

export function moveInTree(lines: readonly TreeLine[], place: number, { key, ctrlKey, metaKey, altKey }: Key): TreeMove | null {
  const line = lines[place];
  if (line === undefined || ctrlKey || metaKey || altKey) return null;
  const go = (to: number): TreeMove => ({ kind: 'go', place: Math.min(lines.length - 1, Math.max(0, to)) });
  switch (key) {
    case 'ArrowDown':
      return go(place + 1);
    case 'ArrowUp':
      return go(place - 1);
    case 'Home':
      return go(0);
    case 'End':
      return go(lines.length - 1);
    case 'ArrowRight':
      if (line.isOpen === null) return null;
      return line.isOpen ? go(place + 1) : { kind: 'open', isOpen: true };
    case 'ArrowLeft':
      if (line.isOpen) return { kind: 'open', isOpen: false };
      return go(lines.findLastIndex(({ level }, index) => index < place && level < line.level));
    case 'Enter':
    case ' ':
      return { kind: 'check' };
    default:
      return key.length === 1 ? jump(lines, place, key) : null;
  }
}

/** Moves to the next line that begins with a letter, wrapping around at the end. */
function jump(lines: readonly TreeLine[], place: number, letter: string): TreeMove | null {
  const places = [...lines.keys()];
  const inOrder = [...places.slice(place + 1), ...places.slice(0, place)];
  const found = inOrder.find((index) => lines[index]?.name.toLowerCase().startsWith(letter.toLowerCase()));
  return found === undefined ? null : { kind: 'go', place: found };
}
