/** A form for the claims of the token that the server signs: a name and a value per line; a value that is valid JSON is parsed. */
import { type FormEvent, useState } from 'react';
import { type ClaimLine, readClaims, writeClaims } from './claim-lines.ts';
import type { Claims } from './decode-token.ts';
import { DialogButtons, Modal } from './modal.tsx';
import type { RoleCaller } from './page-caller.ts';

interface ClaimsDialogProps {
  readonly caller: RoleCaller;
  readonly onUse: (claims: Claims) => void;
  readonly onClose: () => void;
}

/** Lines keep their keys while others are added and removed. */
type KeyedLine = ClaimLine & { readonly key: number };

export function ClaimsDialog({ caller, onUse, onClose }: ClaimsDialogProps) {
  const [lines, setLines] = useState<readonly KeyedLine[]>(() => keyed(writeClaims(caller.claims)));
  const change = (key: number, changed: Partial<ClaimLine>): void =>
    setLines(lines.map((line) => (line.key === key ? { ...line, ...changed } : line)));
  const add = (): void => setLines([...lines, { name: '', value: '', key: Math.max(0, ...lines.map(({ key }) => key)) + 1 }]);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    onUse(readClaims(lines));
    onClose();
  };
  return (
    <Modal title={`Claims of ${caller.role}`} onClose={onClose}>
      <form onSubmit={save}>
        <p>
          Policies read them with <code>current_setting('request.jwt.claims', true)::json</code>. A value is JSON; anything else is text.
        </p>
        {lines.map(({ key, name, value }) => (
          <div className="claim-line" key={key}>
            <input
              aria-label="Name of the claim"
              placeholder="sub"
              value={name}
              onChange={({ target }) => change(key, { name: target.value })}
            />
            <input
              aria-label={`Value of ${name || 'the claim'}`}
              value={value}
              onChange={({ target }) => change(key, { value: target.value })}
            />
            <button
              type="button"
              className="page-button"
              aria-label={`Remove ${name || 'the claim'}`}
              onClick={() => setLines(lines.filter((line) => line.key !== key))}
            >
              ×
            </button>
          </div>
        ))}
        <DialogButtons onClose={onClose}>
          <button type="button" className="page-button" onClick={add}>
            Add a claim
          </button>
        </DialogButtons>
      </form>
    </Modal>
  );
}

function keyed(lines: readonly ClaimLine[]): readonly KeyedLine[] {
  return (lines.length > 0 ? lines : [{ name: 'sub', value: '' }]).map((line, key) => ({ ...line, key }));
}
