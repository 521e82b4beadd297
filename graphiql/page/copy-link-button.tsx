/** A button in the editor's toolbar that copies a link to the page with the content of the editors. */
import { ToolbarButton, useGraphiQL } from '@graphiql/react';
import { writeSharedQuery } from './share-link.ts';
import { say } from './toast.tsx';

const label = 'Copy a link to this query';

export function CopyLinkButton() {
  const queryEditor = useGraphiQL(({ queryEditor }) => queryEditor);
  const variableEditor = useGraphiQL(({ variableEditor }) => variableEditor);
  const copy = async (): Promise<void> => {
    const link = writeSharedQuery(location.href, queryEditor?.getValue() ?? '', variableEditor?.getValue() ?? '');
    try {
      await navigator.clipboard.writeText(link);
      say('The link is in the clipboard.');
    } catch {
      // If the clipboard is not allowed, the address bar has the link.
      history.replaceState(null, '', link);
      say('The link is in the address bar.');
    }
  };
  return (
    <ToolbarButton label={label} onClick={() => void copy()}>
      <svg className="graphiql-toolbar-icon icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d="M10 14a4.5 4.5 0 0 0 6.4 0l3.2-3.2a4.5 4.5 0 0 0-6.4-6.4L12 5.6M14 10a4.5 4.5 0 0 0-6.4 0l-3.2 3.2a4.5 4.5 0 0 0 6.4 6.4l1.2-1.2" />
      </svg>
    </ToolbarButton>
  );
}
