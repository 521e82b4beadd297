/**
 * What a role may do with the rows of a table, from its privileges and the policies that apply to it, as PostgreSQL combines them
 * (https://www.postgresql.org/docs/current/ddl-rowsecurity.html): one permissive policy must let a row pass, and all restrictive ones.
 */
import type { RoleFacts, Verb, VerbAccess } from './access.ts';
import type { RawGrant, RawPolicy, RawPrivileges, RawRelation, RawSource } from './access-query.ts';
import { conditionInWords, joinConditions } from './condition-in-words.ts';

/** A table with all that decides who may use it. */
export interface Subject {
  readonly relation: RawRelation;
  readonly grants: readonly RawGrant[];
  readonly policies: readonly RawPolicy[];
  /** What a view selects from. */
  readonly sources: readonly RawSource[];
}

export const verbs: readonly Verb[] = ['select', 'insert', 'update', 'delete'];

/** What a verb reaches, and why. */
type Verdict = Omit<VerbAccess, 'columns'>;

const nothing = { reach: 'none', condition: null, check: null } as const;
const everything = { reach: 'all', condition: null, check: null } as const;

export function judgeRole(subject: Subject, role: RoleFacts, privileges: RawPrivileges): Readonly<Record<Verb, VerbAccess>> {
  const judge = (verb: Verb): VerbAccess => ({
    ...judgeVerb(subject, role, privileges, verb),
    columns: privileges.verbs.includes(verb) ? null : (privileges.columns[verb] ?? null),
  });
  const select = judge('select');
  const change = (verb: Verb): VerbAccess => {
    const access = judge(verb);
    // Statements that choose rows by their columns need to read them.
    if (access.reach === 'none' || select.reach !== 'none') return access;
    return { ...access, ...nothing, reason: `${access.reason}, but it may read no row, so it finds none to ${verb}` };
  };
  return { select, insert: judge('insert'), update: change('update'), delete: change('delete') };
}

function judgeVerb(subject: Subject, role: RoleFacts, privileges: RawPrivileges, verb: Verb): Verdict {
  const { relation } = subject;
  const isGranted = privileges.verbs.includes(verb) || privileges.columns[verb] !== undefined;
  if (!isGranted) return { ...nothing, isGranted, reason: `no grant to ${verb}` };
  const source = sourceOf(subject, role, privileges, verb);
  if (!privileges.hasSchema) return { ...nothing, isGranted: false, reason: `${source}, but no usage of the schema ${relation.schema}` };
  if (verb !== 'select' && !relation.writes.includes(verb))
    return { ...nothing, isGranted: false, reason: `${source}, but the view takes no ${verb}` };
  if (relation.kind === 'v' || relation.kind === 'm') return { isGranted, ...judgeView(subject, role, source) };
  if (!relation.rowSecurity) return { ...everything, isGranted, reason: source };
  if (role.bypassesRowSecurity) return { ...everything, isGranted, reason: `${source}; no policy applies to it` };
  if (privileges.isOwner && !relation.forced) return { ...everything, isGranted, reason: `${source}; no policy applies to the owner` };
  return { isGranted, ...judgePolicies(subject, role, verb, source) };
}

/** How it comes that the role has the privilege. */
function sourceOf({ relation, grants }: Subject, role: RoleFacts, { isOwner }: RawPrivileges, verb: Verb): string {
  if (role.isSuperuser) return 'it is a superuser';
  if (relation.owner === role.name) return 'it is the owner';
  if (isOwner) return `it has the privileges of ${relation.owner}, the owner`;
  const to = grants
    .filter(
      ({ privilege, grantee }) => privilege === verb && (grantee === null || grantee === role.name || role.inherits.includes(grantee)),
    )
    .map(({ grantee }) => grantee ?? 'public');
  const inherited = to.filter((name) => name !== role.name && name !== 'public');
  const direct = to.filter((name) => !inherited.includes(name));
  const names = [...new Set(direct.length > 0 ? direct : inherited)].join(' and ');
  if (names === '') return 'granted by a predefined role';
  return `granted to ${names}${direct.length > 0 ? '' : ', whose privileges it inherits'}`;
}

/** A view has no policies of its own: those of its tables apply to its owner, or to its caller. */
function judgeView({ relation, sources }: Subject, role: RoleFacts, source: string): Omit<Verdict, 'isGranted'> {
  const secured = sources.filter(({ rowSecurity }) => rowSecurity);
  if (secured.length === 0) return { ...everything, reason: source };
  const names = listed(secured.map(({ table }) => table));
  if (relation.kind === 'v' && relation.isInvoker) {
    if (role.bypassesRowSecurity) return { ...everything, reason: `${source}; no policy applies to it` };
    return {
      ...nothing,
      reach: 'some',
      condition: `the policies of ${names} let them pass`,
      reason: `${source}; the view reads as its caller`,
    };
  }
  const hidden = secured.filter(({ ownerBypasses }) => !ownerBypasses);
  const as = `${relation.kind === 'm' ? 'it was filled' : 'the view reads'} as ${relation.owner}, its owner`;
  if (hidden.length < secured.length) return { ...everything, reason: `${source}; ${as}, to whom those policies do not apply` };
  return {
    ...nothing,
    reach: 'some',
    condition: `the policies of ${names} let them pass for ${relation.owner}`,
    reason: `${source}; ${as}`,
  };
}

function judgePolicies({ policies }: Subject, role: RoleFacts, verb: Verb, source: string): Omit<Verdict, 'isGranted'> {
  const applied = policies.filter(
    ({ command, roles }) =>
      (command === 'all' || command === verb) &&
      roles.some((name) => name === 'public' || name === role.name || role.inherits.includes(name)),
  );
  const reason = (used: readonly RawPolicy[]): string =>
    used.length === 0 ? source : `${source}; ${used.length === 1 ? 'policy' : 'policies'} ${listed(used.map(({ name }) => name))}`;
  const rows = combine(applied, verb === 'insert' ? checkOf : ({ using }) => using);
  if (rows === 'none') return { ...nothing, reason: `${reason(applied)}; no policy lets a row pass` };
  const after = verb === 'update' ? combine(applied, checkOf) : rows;
  if (after === 'none') return { ...nothing, reason: `${reason(applied)}; no policy lets a changed row pass` };
  const check = after === rows ? null : after === 'all' ? null : after.condition;
  if (rows === 'all' && check === null) return { ...everything, reason: reason(applied) };
  const condition = rows === 'all' ? null : rows.condition;
  return { reach: 'some', condition, check: check === condition ? null : check, reason: reason(applied) };
}

function checkOf({ using, check }: RawPolicy): string | null {
  return check ?? using;
}

type Rows = 'all' | 'none' | { readonly condition: string };

/** The rows that pass. A policy without the expression says nothing of them. */
function combine(policies: readonly RawPolicy[], expressionOf: (policy: RawPolicy) => string | null): Rows {
  const given = (isPermissive: boolean): string[] =>
    policies.filter((policy) => policy.isPermissive === isPermissive).flatMap((policy) => expressionOf(policy) ?? []);
  const permissive = given(true).filter((expression) => expression !== 'false');
  const restrictive = given(false).filter((expression) => expression !== 'true');
  if (permissive.length === 0 || restrictive.includes('false')) return 'none';
  const any = permissive.includes('true') ? [] : [joinConditions(permissive.map(conditionInWords), 'or')];
  const all = [...any, ...restrictive.map(conditionInWords)];
  return all.length === 0 ? 'all' : { condition: joinConditions(all, 'and') };
}

const list = new Intl.ListFormat('en-GB');

/** `a, b and c`, each once. */
export function listed(names: readonly string[]): string {
  return list.format([...new Set(names)]);
}
