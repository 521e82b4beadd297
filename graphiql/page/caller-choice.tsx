/** The menus of a caller: role, user and claims, of those that the server signs tokens for. */
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import type { CallerChoices } from '../../src/http/routes/graphiql-page.ts';
import { ClaimsDialog } from './claims-dialog.tsx';
import type { RoleCaller } from './page-caller.ts';
import { usePage } from './page-context.ts';

const noChoices: CallerChoices = { roles: [], users: [] };

/** The callers that the server signs tokens for, read again after each change of the schema; none until it has answered. */
export function useCallerChoices(): CallerChoices {
  const { backend } = usePage();
  const schema = useGraphiQL((state) => state.schema);
  const [choices, setChoices] = useState(noChoices);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new schema is the sign that roles may have changed too.
  useEffect(() => {
    let isLate = false;
    const settle = (read: CallerChoices): void => {
      if (!isLate) setChoices(read);
    };
    backend?.listCallers().then(settle, () => settle(noChoices));
    return () => {
      isLate = true;
    };
  }, [backend, schema]);
  return choices;
}

interface CallerChoiceProps {
  /** Null for the owner of a pasted key. */
  readonly caller: RoleCaller | null;
  readonly choices: CallerChoices;
  readonly onChange: (caller: RoleCaller) => void;
  /** What else the menu of roles offers. */
  readonly other?: { readonly label: string; readonly onChoose: () => void };
}

export function CallerChoice({ caller, choices: { roles, users }, onChange, other }: CallerChoiceProps) {
  const [isOpen, setIsOpen] = useState(false);
  const claims = caller?.claims ?? {};
  const { sub = '', ...others } = claims;
  const count = Object.keys(claims).length;
  const isKnownUser = sub === '' || users.some(({ id }) => id === sub);
  const chooseRole = (role: string): void => (role === other?.label ? other.onChoose() : onChange({ kind: 'role', role, claims }));
  return (
    <>
      <label>
        <span className="caller-label">Role</span>{' '}
        <select value={caller?.role ?? other?.label} onChange={({ target }) => chooseRole(target.value)}>
          {caller !== null && !roles.includes(caller.role) && <option>{caller.role}</option>}
          {roles.map((role) => (
            <option key={role}>{role}</option>
          ))}
          {other !== undefined && <option>{other.label}</option>}
        </select>
      </label>
      {caller !== null && users.length > 0 && (
        <label>
          <span className="caller-label">User</span>{' '}
          <select
            value={String(sub)}
            onChange={({ target }) => onChange({ ...caller, claims: target.value === '' ? others : { ...others, sub: target.value } })}
          >
            <option value="">nobody</option>
            {!isKnownUser && <option>{String(sub)}</option>}
            {users.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      {caller !== null && (
        <button type="button" className="page-button" onClick={() => setIsOpen(true)}>
          {count === 0 ? 'Claims' : `Claims (${count})`}
        </button>
      )}
      {isOpen && caller !== null && (
        <ClaimsDialog caller={caller} onUse={(changed) => onChange({ ...caller, claims: changed })} onClose={() => setIsOpen(false)} />
      )}
    </>
  );
}
