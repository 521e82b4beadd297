/** GraphiQL's Markdown view, loaded when there is Markdown to show; shows the plain text until then. */
import { type ComponentProps, lazy, Suspense } from 'react';

const Loaded = lazy(async () => ({ default: (await import('@graphiql/react')).MarkdownContent }));

export function MarkdownContent(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={props.children}>
      <Loaded {...props} />
    </Suspense>
  );
}

/** GraphiQL exports its parser but does not use it itself. */
export const markdown = undefined;
