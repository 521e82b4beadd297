/** GraphiQL's view of Markdown, loaded when there is some to show; until then the text as it is. */
import { type ComponentProps, lazy, Suspense } from 'react';

const Loaded = lazy(async () => ({ default: (await import('@graphiql/react')).MarkdownContent }));

export function MarkdownContent(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={props.children}>
      <Loaded {...props} />
    </Suspense>
  );
}

/** GraphiQL exports its parser, and does not use it itself. */
export const markdown = undefined;
