/** The explorer as a plugin of GraphiQL. Its content is loaded when it is first opened. */
import type { GraphiQLPlugin } from '@graphiql/react';
import { later } from './later.tsx';
import { PartBoundary } from './part-boundary.tsx';

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
