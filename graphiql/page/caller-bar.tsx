/** Shows the caller, and changes it: by menus if the server signs tokens for the page, otherwise by a pasted key. */
import { useState } from 'react';
import { CallerChoice, useCallerChoices } from './caller-choice.tsx';
import { KeyDialog } from './key-form.tsx';
import { hasKey, roleOf } from './page-caller.ts';
import { usePage } from './page-context.ts';

export function CallerBar() {
  const { backend, caller, changeCaller } = usePage();
  const choices = useCallerChoices();
  const [isPasting, setIsPasting] = useState(false);
  const paste = (): void => setIsPasting(true);
  const role = roleOf(caller);
  return (
    <div className="caller-bar">
      {backend !== null && (
        <CallerChoice
          caller={caller.kind === 'role' ? caller : null}
          choices={choices}
          onChange={changeCaller}
          other={{ label: 'a pasted key …', onChoose: paste }}
        />
      )}
      {caller.kind === 'key' && hasKey(caller) && (
        <>
          <span>as {role === null ? 'the owner of an opaque key' : <strong>{role}</strong>}</span>
          <button type="button" className="page-button" onClick={paste}>
            Key and token
          </button>
        </>
      )}
      {isPasting && <KeyDialog onClose={() => setIsPasting(false)} />}
    </div>
  );
}
