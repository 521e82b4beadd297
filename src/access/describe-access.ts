/** Says in plain words who may do what with a table, and writes the SQL that decides it. */
import type { Note, PolicyAccess, RoleAccess, RoleFacts, Sentence, Verb, VerbAccess } from './access.ts';
import type { RawGrant, RawPolicy } from './access-query.ts';
import { conditionInWords } from './condition-in-words.ts';
import { listed, type Subject, verbs } from './judge-access.ts';

const words: Readonly<Record<Verb, string>> = { select: 'read', insert: 'insert', update: 'update', delete: 'delete' };

/** A sentence for roles that may do the same, and one for each verb that nobody may do, or nobody but those to whom no policy applies. */
export function describeRoles(roles: readonly RoleAccess[], facts: readonly RoleFacts[]): Sentence[] {
  const free = new Set(facts.filter(({ bypassesRowSecurity }) => bypassesRowSecurity).map(({ name }) => name));
  return verbs.flatMap((verb) => {
    const able = roles.filter((each) => each.verbs[verb].isGranted);
    const alike = Map.groupBy(able, (each) => phraseOf(verb, each.verbs[verb], each.verbs.select));
    const sentences = [...alike].map(([phrase, group]): Sentence => {
      const names = group.map(({ role }) => role);
      return { verb, roles: names, reach: group[0]!.verbs[verb].reach, text: `${listed(names)} ${agree(phrase, names.length)}.` };
    });
    const reached = able.filter((each) => each.verbs[verb].reach !== 'none').map(({ role }) => role);
    const [only, ...others] = facts;
    const nobody = only !== undefined && others.length === 0 ? `${only.name} may not` : 'Nobody may';
    if (reached.length === 0) return [...sentences, { verb, roles: [], reach: 'none', text: `${nobody} ${words[verb]}.` }];
    if (others.length === 0 || !reached.every((name) => free.has(name))) return sentences;
    const useless = sentences.filter(({ reach }) => reach === 'none');
    return [
      { verb, roles: reached, reach: 'all', text: `Only ${listed(reached)}, to which no policy applies, may ${words[verb]}.` },
      ...useless,
    ];
  });
}

/** `has` for one, `have` for several. */
function agree(phrase: string, count: number): string {
  return count === 1
    ? phrase
    : phrase
        .replace(/^has /, 'have ')
        .replaceAll(/\blets it\b/g, 'lets them')
        .replaceAll(/\bit may\b/g, 'they may');
}

/** What follows the name of the role: `may read rows where not is_private`. */
function phraseOf(verb: Verb, access: VerbAccess, select: VerbAccess): string {
  const { reach, columns, condition, check } = access;
  const word = words[verb];
  if (reach === 'none' && (verb === 'update' || verb === 'delete') && select.reach === 'none')
    return `has the privilege to ${word}, but it may read no row, so none is found to ${word}`;
  if (reach === 'none') return `has the privilege to ${word}, but no policy lets it ${word} any row`;
  const only = columns === null ? '' : `only ${listed(columns)} `;
  const rows = condition === null ? 'every row' : `rows where ${condition}`;
  if (verb === 'insert') {
    const inserted = condition === null ? 'any row' : `rows where ${condition}`;
    return `may insert ${inserted}${columns === null ? '' : `, with values for ${listed(columns)} only`}`;
  }
  const isLess = verb !== 'select' && select.reach === 'some' && select.condition !== condition;
  const among = isLess ? ', of those that it may read' : '';
  const after = check === null ? '' : `; afterwards they must have ${check}`;
  return `may ${word} ${only}${only === '' ? '' : 'of '}${rows}${among}${after}`;
}

/** What holds for the table as a whole. */
export function describeTable({ relation, policies, sources }: Subject, roles: readonly RoleAccess[], facts: readonly RoleFacts[]): Note[] {
  const { kind, owner, rowSecurity, forced, partitionOf } = relation;
  const notes: Note[] = [];
  const say = (text: string, isWarning = false): unknown => notes.push({ isWarning, text });
  if (kind === 'v' || kind === 'm') notes.push(...describeView({ relation, sources }));
  else if (kind === 'f') say('A foreign table has no row level security: a privilege holds for every row.');
  else if (!rowSecurity) {
    const users = roles.filter(({ verbs: of }) => verbs.some((verb) => of[verb].isGranted)).map(({ role }) => role);
    const bound = users.filter((name) => !facts.some((each) => each.name === name && each.bypassesRowSecurity));
    const effect = bound.length === 0 ? '' : ` ${listed(bound)} ${bound.length === 1 ? 'uses its' : 'use their'} privileges on every row.`;
    say(`Row level security is off.${effect}`, bound.length > 0);
    if (policies.length > 0)
      say(
        `Its ${policies.length === 1 ? 'policy has' : `${policies.length} policies have`} no effect, because row level security is off.`,
        true,
      );
  } else {
    say(`Row level security is on${forced ? ', for its owner too' : ''}: a row is out of reach unless a policy lets it pass.`);
    const free = facts.filter(({ bypassesRowSecurity, name }) => bypassesRowSecurity && name !== owner).map(({ name }) => name);
    const bypassing = free.length === 0 ? [] : [`${listed(free)}, which ${free.length === 1 ? 'bypasses' : 'bypass'} row level security`];
    const exempt = [...(forced ? [] : [`${owner}, its owner`]), ...bypassing];
    if (exempt.length > 0) say(`Policies do not apply to ${exempt.join(', nor to ')}.`);
    if (policies.length > 0 && policies.every(({ isPermissive }) => !isPermissive))
      say('All policies are restrictive: they take rows away, and none gives any.', true);
  }
  if (partitionOf !== null) say(`It is a partition: queries of ${partitionOf} obey the policies of ${partitionOf}, not these.`);
  return notes;
}

function describeView({ relation, sources }: Pick<Subject, 'relation' | 'sources'>): Note[] {
  const { kind, owner, isInvoker } = relation;
  const from = sources.length === 0 ? '' : ` from ${listed(sources.map(({ table }) => table))}`;
  if (kind === 'v' && isInvoker)
    return [
      { isWarning: false, text: `It reads${from} as its caller (security_invoker): grants and policies there apply to whoever asks.` },
    ];
  const reads =
    kind === 'm' ? `It was filled${from} as ${owner}, its owner` : `It reads${from} as ${owner}, its owner (no security_invoker)`;
  const bypassed = sources.filter(({ rowSecurity, ownerBypasses }) => rowSecurity && ownerBypasses).map(({ table }) => table);
  if (bypassed.length === 0) return [{ isWarning: false, text: `${reads}: whoever may read it needs no privilege there.` }];
  return [
    {
      isWarning: true,
      text: `${reads}, to whom the policies of ${listed(bypassed)} do not apply: whoever may read it sees what they hide.`,
    },
  ];
}

export function describePolicy(policy: RawPolicy, tableSql: string): PolicyAccess {
  const { name, command, isPermissive, roles, using, check } = policy;
  return { name, command, isPermissive, roles, text: policyInWords(policy), sql: policySql(policy, tableSql, using, check) };
}

function policyInWords({ command, isPermissive, roles, using, check }: RawPolicy): string {
  const who = roles.includes('public') ? 'everybody' : listed(roles);
  const done = command === 'all' ? 'read, insert, update and delete' : words[command];
  const checked = check ?? (command === 'insert' ? using : null);
  const rows = command === 'insert' ? checked : using;
  const where = (expression: string | null): string =>
    expression === null || expression === 'true' ? 'every row' : `rows where ${conditionInWords(expression)}`;
  const after =
    command !== 'insert' && check !== null && check !== using ? `; new and changed rows must have ${conditionInWords(check)}` : '';
  if (isPermissive) return `Lets ${who} ${done} ${where(rows)}${after}.`;
  return `Restricts ${who}: may ${done} only ${where(rows)}${after}, whatever other policies allow.`;
}

function policySql(
  { nameSql, command, isPermissive, rolesSql }: RawPolicy,
  tableSql: string,
  using: string | null,
  check: string | null,
): string {
  const lines = [
    `create policy ${nameSql} on ${tableSql}${isPermissive ? '' : ' as restrictive'}${command === 'all' ? '' : ` for ${command}`} to ${rolesSql}`,
    ...(using === null ? [] : [`  using (${using})`]),
    ...(check === null ? [] : [`  with check (${check})`]),
  ];
  return `${lines.join('\n')};`;
}

/** The grants and the switch of row level security. */
export function writeTableSql({ relation, grants }: Subject): string {
  const { sql, kind, rowSecurity, forced, isInvoker } = relation;
  const lines = [...writeGrants(sql, grants)];
  if (rowSecurity) lines.push(`alter table ${sql} enable row level security;`);
  if (forced) lines.push(`alter table ${sql} force row level security;`);
  if (kind === 'v' && isInvoker) lines.push(`alter view ${sql} set (security_invoker = true);`);
  return lines.join('\n');
}

/** One statement for each grantee, for the privileges on the table and on the same columns. */
function writeGrants(tableSql: string, grants: readonly RawGrant[]): string[] {
  const byPrivilege = Map.groupBy(grants, ({ granteeSql, privilege, isGrantable, column }) =>
    [granteeSql, isGrantable, column === null ? '' : privilege].join('\n'),
  );
  const parts = [...byPrivilege.values()].map((group) => {
    const [{ granteeSql, isGrantable, privilege, column }] = group as [RawGrant, ...RawGrant[]];
    const columns = column === null ? '' : ` (${group.map(({ columnSql }) => columnSql).join(', ')})`;
    const text = column === null ? group.map((each) => each.privilege).join(', ') : `${privilege}${columns}`;
    return { granteeSql, isGrantable, text };
  });
  const byGrantee = Map.groupBy(parts, ({ granteeSql, isGrantable }) => `${granteeSql}\n${isGrantable}`);
  return [...byGrantee.values()].map((group) => {
    const [{ granteeSql, isGrantable }] = group as [(typeof group)[number], ...typeof group];
    return `grant ${group.map(({ text }) => text).join(', ')} on table ${tableSql} to ${granteeSql}${isGrantable ? ' with grant option' : ''};`;
  });
}
