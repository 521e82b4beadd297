/** GraphiQL's history as a plugin, whose entries screen readers call by the name that is shown. Leans on the elements that GraphiQL renders. */
import { HISTORY_PLUGIN, useHistory } from '@graphiql/plugin-history';
import type { GraphiQLPlugin } from '@graphiql/react';
import { useEffect } from 'react';

const Content = HISTORY_PLUGIN.content;

export const historyPlugin: GraphiQLPlugin = { ...HISTORY_PLUGIN, content: ReadableHistory };

function ReadableHistory() {
  const entries = useHistory();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other entries are other elements.
  useEffect(() => {
    for (const label of document.querySelectorAll('.graphiql-history-item-label')) label.removeAttribute('aria-label');
  }, [entries]);
  return <Content />;
}
