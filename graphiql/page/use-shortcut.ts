/** Keys of the page: Ctrl with a letter, or ⌘ on a Mac. */
import { useEffect, useRef } from 'react';

/** Calls the latest `act` before anything on the page has the key, which does nothing else in the browser. */
export function useShortcut(letter: string, act: (event: KeyboardEvent) => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const follow = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== letter) return;
      event.preventDefault();
      latest.current(event);
    };
    window.addEventListener('keydown', follow, true);
    return () => window.removeEventListener('keydown', follow, true);
  }, [letter]);
}
