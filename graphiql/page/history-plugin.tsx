/** GraphiQL's history as a plugin whose entries have the accessible names that they show. Relies on the elements that GraphiQL renders. */
import { HISTORY_PLUGIN, useHistory } from '@graphiql/plugin-history';
import type { GraphiQLPlugin } from '@graphiql/react';
import { useEffect } from 'react';

const Content = HISTORY_PLUGIN.content;

export const historyPlugin: GraphiQLPlugin = { ...HISTORY_PLUGIN, content: ReadableHistory };

function ReadableHistory() {
  const entries = useHistory();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other entries have other elements.
  useEffect(() => {
    for (const label of document.querySelectorAll('.graphiql-history-item-label')) label.removeAttribute('aria-label');
  }, [entries]);
  return <Content />;
}
