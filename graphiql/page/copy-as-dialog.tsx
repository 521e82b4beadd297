/** Shows the operation of the editor as code for a shell, a language or a client, with or without the caller's own key, and copies it. */
import { ToolbarButton, tryParseJSONC, useGraphiQL } from '@graphiql/react';
import { useEffect, useMemo, useState } from 'react';
import { chooseOperationName } from './choose-operation-name.ts';
import { type CodeKind, codeKinds, type RequestToCopy, writeCode } from './copy-as.ts';
import { Modal } from './modal.tsx';
import { usePage } from './page-context.ts';
import { say } from './toast.tsx';

export function CopyAsButton() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <ToolbarButton label="Copy as code" onClick={() => setIsOpen(true)}>
        <svg className="graphiql-toolbar-icon icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M4 5h16v14H4zM7.5 9.5 10 12l-2.5 2.5M12.5 15h4" />
        </svg>
      </ToolbarButton>
      {isOpen && <CopyAsDialog onClose={() => setIsOpen(false)} />}
    </>
  );
}

const item = 'rowgraph:copy-as';

function CopyAsDialog({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState<CodeKind>(() => codeKinds.find((each) => each === localStorage.getItem(item)) ?? 'curl');
  const [hasKey, setHasKey] = useState(false);
  const headers = useHeaders(hasKey);
  const request = useRequest(headers);
  const { code, error } = useMemo(() => {
    try {
      return { code: request instanceof Error ? '' : writeCode(kind, request), error: request instanceof Error ? request.message : null };
    } catch (problem) {
      return { code: '', error: (problem as Error).message };
    }
  }, [kind, request]);
  const choose = (chosen: CodeKind): void => {
    setKind(chosen);
    localStorage.setItem(item, chosen);
  };
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(code);
      say(`Copied as ${kind}.`);
      onClose();
    } catch {
      say('The browser does not allow copying: select the text, and copy it with Ctrl-C.');
    }
  };
  return (
    <Modal title="Copy as" onClose={onClose} isWide>
      <div className="segments" role="radiogroup" aria-label="Language or client">
        {codeKinds.map((each) => (
          <label key={each} className="segment">
            <input type="radio" name="code-kind" checked={each === kind} onChange={() => choose(each)} />
            {each}
          </label>
        ))}
      </div>
      <label className="keep-field">
        <input type="checkbox" checked={hasKey} onChange={({ target }) => setHasKey(target.checked)} />
        With the key of this caller: whoever has the text can act as this caller
      </label>
      {error === null ? (
        <pre className="copy-code" tabIndex={0}>
          {code}
        </pre>
      ) : (
        <p className="explain-error" role="alert">
          {error}
        </p>
      )}
      <div className="dialog-buttons">
        <button type="button" className="page-button" onClick={onClose}>
          Close
        </button>
        <button type="button" className="page-button primary" disabled={error !== null} onClick={() => void copy()}>
          Copy
        </button>
      </div>
    </Modal>
  );
}

/** The headers of the caller, or what stands in their place. */
function useHeaders(hasKey: boolean): Readonly<Record<string, string>> | Error {
  const { caller, readHeaders } = usePage();
  const placeholders = useMemo(
    () => ({ apiKey: 'YOUR_KEY', ...(caller.kind === 'key' && caller.token !== '' && { authorization: 'Bearer YOUR_TOKEN' }) }),
    [caller],
  );
  const [own, setOwn] = useState<Readonly<Record<string, string>> | Error>(placeholders);
  useEffect(() => {
    let isLate = false;
    if (hasKey)
      readHeaders().then(
        (read) => !isLate && setOwn(read),
        (error: Error) => !isLate && setOwn(error),
      );
    return () => {
      isLate = true;
    };
  }, [hasKey, readHeaders]);
  return hasKey ? own : placeholders;
}

/** What the editors have now. */
function useRequest(headers: Readonly<Record<string, string>> | Error): RequestToCopy | Error {
  const { settings } = usePage();
  const query = useGraphiQL((state) => state.queryEditor)?.getValue() ?? '';
  const variableText = useGraphiQL((state) => state.variableEditor)?.getValue() ?? '';
  const headerText = useGraphiQL((state) => state.headerEditor)?.getValue() ?? '';
  const operationName = useGraphiQL((state) => state.operationName);
  return useMemo(() => {
    if (headers instanceof Error) return headers;
    const variables = readObject(variableText);
    const given = readObject(headerText);
    if (variables instanceof Error || given instanceof Error)
      return new Error('Correct the variables and the headers first: each must be an object of JSON.');
    const others = Object.fromEntries(Object.entries(given ?? {}).map(([name, value]) => [name, String(value)]));
    return {
      url: new URL(settings.endpoint, location.href).href,
      headers: { ...headers, ...others },
      query,
      variables,
      operationName: chooseOperationName(query, operationName),
    };
  }, [settings, headers, query, variableText, headerText, operationName]);
}

/** Null if there is no text. Comments and trailing commas are allowed, as they are where GraphiQL sends it. */
function readObject(text: string): Readonly<Record<string, unknown>> | null | Error {
  try {
    return (tryParseJSONC(text) as Readonly<Record<string, unknown>> | undefined) ?? null;
  } catch (error) {
    return error as Error;
  }
}
