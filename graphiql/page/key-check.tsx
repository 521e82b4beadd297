/** Asks the server what it makes of a key and a token while they are being pasted: whether it accepts them, and whether introspection is on. */
import { useEffect, useState } from 'react';
import { CallerHeaders } from './caller-headers.ts';
import { usePage } from './page-context.ts';
import { reachServer, readJson } from './reach-server.ts';

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

export function KeyCheck({ apiKey, token }: { readonly apiKey: string; readonly token: string }) {
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
