/** The two callers that are compared, with the menus to choose them from and the reader that asks as each of them. */
import { useGraphiQL } from '@graphiql/react';
import { useMemo } from 'react';
import type { AccessReport } from '../../../src/access/access.ts';
import type { CallerChoices } from '../../../src/http/routes/graphiql-page.ts';
import { useCallerChoices } from '../caller-choice.tsx';
import type { RoleCaller } from '../page-caller.ts';
import { usePage } from '../page-context.ts';
import type { ShownPolicies } from '../page-location.ts';
import { Reader } from './read-as.ts';

export interface Pair {
  readonly one: RoleCaller;
  readonly other: RoleCaller;
  readonly choices: CallerChoices;
  readonly reader: Reader;
  readonly change: (side: 'one' | 'other', caller: RoleCaller) => void;
  /** What both are called, told apart. */
  readonly names: { readonly one: string; readonly other: string };
}

export function usePair(report: AccessReport, shown: ShownPolicies, onChange: (part: Partial<ShownPolicies>) => void): Pair {
  const { backend, caller, settings } = usePage();
  const schema = useGraphiQL((state) => state.schema);
  const choices = useCallerChoices();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new schema needs a new reader, which has read none.
  const reader = useMemo(() => new Reader(backend!, settings.endpoint), [backend, settings, schema]);
  const known = useMemo(
    () => (choices.roles.length > 0 ? choices : { roles: report.roles.map(({ name }) => name), users: [] }),
    [choices, report],
  );
  const [first, second] = useMemo(() => choosePair(caller.kind === 'role' ? caller : null, known), [caller, known]);
  const [one, other] = [shown.one ?? first, shown.other ?? second];
  const [nameOfOne, nameOfOther] = [labelOf(one, known), labelOf(other, known)];
  const isSameName = nameOfOne === nameOfOther;
  return {
    one,
    other,
    choices: known,
    reader,
    change: (side, chosen) => onChange({ one, other, [side]: chosen }),
    names: {
      one: isSameName ? `${nameOfOne} (${one.role})` : nameOfOne,
      other: isSameName ? `${nameOfOther} (${other.role === one.role ? 'second' : other.role})` : nameOfOther,
    },
  };
}

/** Somebody and nobody: the caller of the page and an anonymous one, or the first user if that is who the caller is. */
function choosePair(caller: RoleCaller | null, { roles, users }: CallerChoices): readonly [RoleCaller, RoleCaller] {
  const anonymous: RoleCaller = { kind: 'role', role: roles[0] ?? 'anon', claims: {} };
  const member = roles.find((role) => role === 'authenticated') ?? roles[1] ?? anonymous.role;
  const [user] = users;
  const somebody: RoleCaller = { kind: 'role', role: member, claims: user === undefined ? {} : { sub: user.id } };
  const isSomebody = caller !== null && (caller.role !== anonymous.role || Object.keys(caller.claims).length > 0);
  return [isSomebody ? caller : somebody, anonymous];
}

/** `Ada Brandt`, `nobody`, or the subject of the claims; the role where that says more. */
function labelOf({ role, claims }: RoleCaller, { users }: CallerChoices): string {
  const { sub } = claims;
  if (sub === undefined) return Object.keys(claims).length === 0 ? `nobody (${role})` : `${role} with claims`;
  return users.find(({ id }) => id === sub)?.label ?? String(sub);
}
