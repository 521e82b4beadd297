/** A button in the editor's toolbar that copies a link to the page with the content of the editors. */
import { ToolbarButton, useGraphiQL } from '@graphiql/react';
import { useState } from 'react';
import { writeSharedQuery } from './share-link.ts';

const label = 'Copy a link to this query';

export function CopyLinkButton() {
  const queryEditor = useGraphiQL(({ queryEditor }) => queryEditor);
  const variableEditor = useGraphiQL(({ variableEditor }) => variableEditor);
  const [said, setSaid] = useState({ text: '', times: 0 });
  const say = (text: string): void => setSaid(({ times }) => ({ text, times: times + 1 }));
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
    <>
      <ToolbarButton label={label} onClick={() => void copy()}>
        <svg className="graphiql-toolbar-icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.3" aria-hidden="true">
          <path d="M6.5 9.5a3 3 0 0 0 4.3 0l2.3-2.3a3 3 0 0 0-4.3-4.3L8 3.7M9.5 6.5a3 3 0 0 0-4.3 0L2.9 8.8a3 3 0 0 0 4.3 4.3l.8-.8" />
        </svg>
      </ToolbarButton>
      {/* A key for each copy, so that it appears again. */}
      <output key={said.times} className="toast">
        {said.text}
      </output>
    </>
  );
}
