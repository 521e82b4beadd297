/** Shows the caller, and changes it: by a menu of roles and users if the server signs tokens for the page, otherwise by a pasted key. */
import { useEffect, useState } from 'react';
import type { CallerChoices } from '../../src/http/routes/graphiql-page.ts';
import { ClaimsDialog } from './claims-dialog.tsx';
import { KeyDialog } from './key-form.tsx';
import { hasKey, type RoleCaller, roleOf } from './page-caller.ts';
import { usePage } from './page-context.ts';

const pasted = 'a pasted key …';
const noChoices: CallerChoices = { roles: [], users: [] };

export function CallerBar() {
  const { backend, caller, changeCaller } = usePage();
  const [isPasting, setIsPasting] = useState(false);
  const choices = useCallerChoices();
  const openKeys = (): void => setIsPasting(true);
  const chooseRole = (role: string): void => {
    if (role === pasted) openKeys();
    else changeCaller({ kind: 'role', role, claims: caller.kind === 'role' ? caller.claims : {} });
  };
  const roles = caller.kind === 'role' && !choices.roles.includes(caller.role) ? [caller.role, ...choices.roles] : choices.roles;
  return (
    <div className="caller-bar">
      {backend !== null && (
        <label>
          <span className="caller-label">Role</span>
          <select value={caller.kind === 'role' ? caller.role : pasted} onChange={({ target }) => chooseRole(target.value)}>
            {roles.map((role) => (
              <option key={role}>{role}</option>
            ))}
            <option>{pasted}</option>
          </select>
        </label>
      )}
      {caller.kind === 'role' ? <RoleDetails caller={caller} users={choices.users} /> : <KeySummary onOpen={openKeys} />}
      {isPasting && <KeyDialog onClose={() => setIsPasting(false)} />}
    </div>
  );
}

/** The callers that the server signs tokens for; none until it has answered. */
export function useCallerChoices(): CallerChoices {
  const { backend } = usePage();
  const [choices, setChoices] = useState(noChoices);
  useEffect(() => {
    backend?.listCallers().then(setChoices, () => setChoices(noChoices));
  }, [backend]);
  return choices;
}

function RoleDetails({ caller, users }: { readonly caller: RoleCaller; readonly users: CallerChoices['users'] }) {
  const { changeCaller } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const { sub = '', ...others } = caller.claims;
  const changeUser = (id: string): void => changeCaller({ ...caller, claims: id === '' ? others : { ...others, sub: id } });
  const count = Object.keys(caller.claims).length;
  const isKnown = sub === '' || users.some(({ id }) => id === sub);
  return (
    <>
      {users.length > 0 && (
        <label>
          <span className="caller-label">User</span>
          <select value={String(sub)} onChange={({ target }) => changeUser(target.value)}>
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
      {isOpen && <ClaimsDialog caller={caller} onUse={(claims) => changeCaller({ ...caller, claims })} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function KeySummary({ onOpen }: { readonly onOpen: () => void }) {
  const { caller } = usePage();
  if (!hasKey(caller)) return null;
  const role = roleOf(caller);
  return (
    <>
      <span>as {role === null ? 'the owner of an opaque key' : <strong>{role}</strong>}</span>
      <button type="button" className="page-button" onClick={onOpen}>
        Key and token
      </button>
    </>
  );
}
