/**
 * Takes a pasted key and a user's token, and shows their claims. They stay in this page; if the user wants, they are kept until the tab is
 * closed. Stands in the middle of the page until there is a key, and in a dialog afterwards.
 */
import { type FormEvent, useState } from 'react';
import { DialogButtons } from './dialog-buttons.tsx';
import { KeyCheck } from './key-check.tsx';
import { Mark } from './mark.tsx';
import { Modal } from './modal.tsx';
import { usePage } from './page-context.ts';
import { TokenSummary } from './token-summary.tsx';

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
