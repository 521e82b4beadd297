/** Beside the tabs of the result: that a subscription runs, how many answers came, and when the last one did. */
import { useSyncExternalStore } from 'react';
import { usePage } from '../page-context.ts';

export function LiveBadge() {
  const { live } = usePage();
  const state = useSyncExternalStore(live.subscribe, live.get);
  if (state === null) return null;
  const { isRunning, count, at } = state;
  return (
    <span className="live-badge" data-running={isRunning}>
      <span className="live-dot" aria-hidden="true" />
      {isRunning ? 'Live' : 'Ended'} · {count} {count === 1 ? 'answer' : 'answers'} ·{' '}
      <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>
    </span>
  );
}
