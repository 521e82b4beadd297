/** The panels of GraphiQL that are not its own as they are: the explorer, which is loaded when it is first opened, and the history. */
import { HISTORY_PLUGIN, useHistory } from '@graphiql/plugin-history';
import type { GraphiQLPlugin } from '@graphiql/react';
import { useEffect } from 'react';
import { later, PartBoundary } from './part-boundary.tsx';

const FieldExplorer = later(() => import('./field-explorer.tsx'), 'FieldExplorer');

export const explorerPlugin: GraphiQLPlugin = {
  title: 'Explorer',
  icon: () => (
    <svg viewBox="0 0 24 24" height="1em" fill="none" stroke="currentColor" strokeWidth="1.5" aria-hidden="true">
      <path d="M4 5h6M4 12h10M10 19h10M4 5v11a3 3 0 0 0 3 3h3M4 12h4M17 4v6M14 7h6" strokeLinecap="round" />
    </svg>
  ),
  content: () => (
    <PartBoundary>
      <FieldExplorer />
    </PartBoundary>
  ),
};

const HistoryContent = HISTORY_PLUGIN.content;

/** Its entries have the accessible names that they show. Relies on the elements that GraphiQL renders. */
export const historyPlugin: GraphiQLPlugin = { ...HISTORY_PLUGIN, content: ReadableHistory };

function ReadableHistory() {
  const entries = useHistory();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other entries have other elements.
  useEffect(() => {
    for (const label of document.querySelectorAll('.graphiql-history-item-label')) label.removeAttribute('aria-label');
  }, [entries]);
  return <HistoryContent />;
}
