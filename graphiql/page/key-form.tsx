/**
 * Takes a pasted key and a user's token, and shows their claims. They stay in this page; if the user wants, they are kept until the tab is
 * closed. Stands in the middle of the page until there is a key, and in a dialog afterwards.
 */
import { type FormEvent, useEffect, useState } from 'react';
import { CallerHeaders } from './caller-headers.ts';
import { decodeToken, expiryOf } from './decode-token.ts';
import { Mark } from './mark.tsx';
import { DialogButtons, Modal } from './modal.tsx';
import { usePage } from './page-context.ts';
import { reachServer, readJson } from './reach-server.ts';

export function KeyDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal title="Key and token" onClose={onClose}>
      <KeyForm onClose={onClose} />
    </Modal>
  );
}

export function KeyPage() {
  return (
    <div className="page-view key-page">
      <section className="key-card" aria-labelledby="key-title">
        <Mark size={40} />
        <h2 id="key-title">Whose API is it?</h2>
        <p>
          Each database role sees an API of its own. Paste a key of this server: <code>rowgraph keys --role anon</code> signs one that may
          be public.
        </p>
        <KeyForm />
      </section>
    </div>
  );
}

function KeyForm({ onClose }: { readonly onClose?: () => void }) {
  const { settings, caller, changeCaller } = usePage();
  const [key, setKey] = useState(caller.kind === 'key' ? caller.key : (settings.anonKey ?? ''));
  const [token, setToken] = useState(caller.kind === 'key' ? caller.token : '');
  const [isKept, setIsKept] = useState(false);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    changeCaller({ kind: 'key', key: key.trim(), token: token.trim() }, isKept);
    onClose?.();
  };
  return (
    <form onSubmit={save}>
      <label className="key-field">
        Key of the project, sent as <code>apiKey</code>
        <textarea rows={3} value={key} spellCheck={false} onChange={({ target }) => setKey(target.value)} />
      </label>
      <TokenSummary token={key} />
      <label className="key-field">
        Token of a user, sent as <code>Authorization</code>, if there is one
        <textarea
          rows={3}
          value={token}
          spellCheck={false}
          onChange={({ target }) => setToken(target.value.replace(/^\s*Bearer\s+/i, ''))}
        />
      </label>
      <TokenSummary token={token} />
      <KeyCheck apiKey={key.trim()} token={token.trim()} />
      <label className="keep-field">
        <input type="checkbox" checked={isKept} onChange={({ target }) => setIsKept(target.checked)} />
        Keep them in this tab until it is closed
      </label>
      <DialogButtons onClose={onClose} />
    </form>
  );
}

/** The claims of a pasted token, and whether it has expired. Only the server can verify its signature. */
function TokenSummary({ token }: { readonly token: string }) {
  if (token.trim() === '') return null;
  const claims = decodeToken(token);
  if (claims === null) return <p className="token-summary">This is not a JSON Web Token. It may be an opaque key.</p>;
  return (
    <div className="token-summary">
      <p>
        {typeof claims.role === 'string' && (
          <>
            Its role is <strong>{claims.role}</strong>.{' '}
          </>
        )}
        {describeExpiry(expiryOf(claims))}
      </p>
      <details>
        <summary>Claims</summary>
        <pre tabIndex={0}>{JSON.stringify(claims, null, 2)}</pre>
      </details>
    </div>
  );
}

function describeExpiry(expiry: number | null): string {
  if (expiry === null) return 'It does not expire.';
  const time = new Date(expiry).toLocaleString();
  return expiry < Date.now() ? `It has expired: ${time}.` : `It expires at ${time}.`;
}

/** Asks the server what it makes of a key and a token while they are being pasted: whether it accepts them, and whether introspection is on. */
interface Answer {
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

interface Verdict {
  readonly isGood: boolean;
  readonly text: string;
  readonly advice?: string;
}

/** In milliseconds: a key is pasted in one go, or typed by nobody. */
const pause = 300;
const probe = JSON.stringify({ query: '{ __schema { queryType { name } } }' });

function KeyCheck({ apiKey, token }: { readonly apiKey: string; readonly token: string }) {
  const { settings } = usePage();
  const [known, setKnown] = useState<{ readonly of: string; readonly verdict: Verdict } | null>(null);
  const of = JSON.stringify([apiKey, token]);
  useEffect(() => {
    if (apiKey === '' && token === '') return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const settle = (verdict: Verdict): void => {
        if (!stop.signal.aborted) setKnown({ of, verdict });
      };
      check(settings.endpoint, apiKey, token, stop.signal).then(settle, (error: Error) => settle({ isGood: false, text: error.message }));
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [settings, apiKey, token, of]);
  if (apiKey === '' && token === '') return null;
  const verdict = known?.of === of ? known.verdict : null;
  return (
    <div className={verdict === null ? 'key-check' : verdict.isGood ? 'key-check good' : 'key-check bad'} role="status">
      <p>{verdict?.text ?? 'Asking the server …'}</p>
      {verdict?.advice !== undefined && <p>{verdict.advice}</p>}
    </div>
  );
}

async function check(endpoint: string, key: string, token: string, signal: AbortSignal): Promise<Verdict> {
  const ofCaller = await new CallerHeaders(null).of({ kind: 'key', key, token });
  const headers = { ...ofCaller, 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json;q=0.9' };
  const { value } = await readJson(await reachServer(endpoint, { method: 'POST', headers, body: probe, signal }));
  return judge(value as Answer);
}

/** What the answer to introspection says of the caller. */
function judge({ errors: [error] = [] }: Answer): Verdict {
  if (error === undefined)
    return { isGood: true, text: 'The server accepts it, and introspection is on: completion, docs and diagram work.' };
  const { message, extensions: { code = '' } = {} } = error;
  if (code === 'UNTRUSTED_DOCUMENT')
    return {
      isGood: true,
      text: 'The server accepts it, but this role may run only trusted documents.',
      advice: 'Start the server with --untrusted-roles for a role that may write its own, and use a key of that role.',
    };
  if (/introspection is disabled/i.test(message))
    return {
      isGood: true,
      text: 'The server accepts it, and introspection is off: operations run, but there is no completion, no docs, no diagram and no rows.',
      advice:
        'To switch it on, start the server with --introspection on, or set the comment directive of the schema: @graphql({"introspection": true}).',
    };
  return { isGood: false, text: `The server refuses it: ${message}` };
}
