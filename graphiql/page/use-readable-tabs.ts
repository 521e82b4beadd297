/**
 * Makes GraphiQL's tabs of operations accessible to screen readers: a list of buttons, because each of GraphiQL's "tabs" contains two
 * buttons. Relies on the elements that GraphiQL renders (`test/contracts/graphiql.test.ts`); without them it does nothing.
 */
import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

export function useReadableTabs(): void {
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  useEffect(() => {
    for (const list of document.querySelectorAll('.graphiql-tabs')) list.setAttribute('role', 'list');
    for (const [index, item] of document.querySelectorAll('.graphiql-tabs > li').entries()) {
      item.removeAttribute('role');
      item.removeAttribute('aria-selected');
      item.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', String(index === active && tabs.length > 0));
    }
    const session = document.getElementById('graphiql-session');
    session?.setAttribute('role', 'region');
  }, [tabs, active]);
}
