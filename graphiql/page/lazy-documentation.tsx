/** GraphiQL's documentation of the schema, loaded when it is first opened: it includes a Markdown parser, and widgets of its own. */
import { lazy, Suspense } from 'react';

const Loaded = lazy(async () => ({ default: (await import('@graphiql/plugin-doc-explorer')).DocExplorer }));

export function DocExplorer() {
  return (
    <Suspense fallback={<p role="status">Loading the documentation …</p>}>
      <Loaded />
    </Suspense>
  );
}
