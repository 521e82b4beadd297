/** SQL with syntax highlighting, and a button that copies it. */
import { useState } from 'react';
import { readSqlTokens } from './read-sql-tokens.ts';

export function CodeBlock({ text }: { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => setIsCopied(false),
    );
  };
  return (
    <div className="code-block">
      <button type="button" className="page-button" onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
      <pre tabIndex={0}>
        <code>
          {readSqlTokens(text).map(({ kind, text: part, start }) =>
            kind === 'plain' ? (
              part
            ) : (
              <span key={start} className={`sql-${kind}`}>
                {part}
              </span>
            ),
          )}
        </code>
      </pre>
    </div>
  );
}
