/** The menus that choose the two callers. */
import { useState } from 'react';
import { ClaimsDialog } from '../claims-dialog.tsx';
import type { RoleCaller } from '../page-caller.ts';
import type { Pair } from './use-pair.ts';

export function CallerPair({ pair }: { readonly pair: Pair }) {
  return (
    <div className="caller-pair">
      <CallerChoice title="One caller" side="one" pair={pair} />
      <span className="caller-versus" aria-hidden="true">
        and
      </span>
      <CallerChoice title="The other caller" side="other" pair={pair} />
    </div>
  );
}

interface CallerChoiceProps {
  readonly title: string;
  readonly side: 'one' | 'other';
  readonly pair: Pair;
}

function CallerChoice({ title, side, pair }: CallerChoiceProps) {
  const [isOpen, setIsOpen] = useState(false);
  const caller = pair[side];
  const { roles, users } = pair.choices;
  const { sub = '', ...others } = caller.claims;
  const change = (changed: Partial<RoleCaller>): void => pair.change(side, { ...caller, ...changed });
  const isKnown = sub === '' || users.some(({ id }) => id === sub);
  const count = Object.keys(caller.claims).length;
  return (
    <fieldset className={`caller-choice ${side}`}>
      <legend>{title}</legend>
      <label>
        Role{' '}
        <select className="page-button" value={caller.role} onChange={({ target }) => change({ role: target.value })}>
          {(roles.includes(caller.role) ? roles : [caller.role, ...roles]).map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
      </label>
      {users.length > 0 && (
        <label>
          User{' '}
          <select
            className="page-button"
            value={String(sub)}
            onChange={({ target }) => change({ claims: target.value === '' ? others : { ...others, sub: target.value } })}
          >
            <option value="">nobody</option>
            {!isKnown && <option>{String(sub)}</option>}
            {users.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      <button type="button" className="page-button" onClick={() => setIsOpen(true)}>
        {count === 0 ? 'Claims' : `Claims (${count})`}
      </button>
      {isOpen && <ClaimsDialog caller={caller} onUse={(claims) => change({ claims })} onClose={() => setIsOpen(false)} />}
    </fieldset>
  );
}
