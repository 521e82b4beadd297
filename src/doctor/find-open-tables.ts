/** Tables that row level security does not protect from the role, or hides from it completely; and policies that are too open or slow. */
import type { CatalogTable } from '../catalog/catalog.ts';
import { tableKinds } from '../model/table-kinds.ts';
import { type Examination, inWords } from './examination.ts';
import type { Policy, TableAccess, Verb } from './facts.ts';
import { wrapCalls } from './policy-calls.ts';
import { type Finding, finding } from './report.ts';

/** The findings for all exposed tables, except views, which have no row level security of their own. */
export function findOpenTables(examination: Examination): Finding[] {
  return examination.catalog.tables.flatMap((table) => {
    const facts = examination.facts.tables.get(table.id);
    if (!facts || table.kind === 'v' || table.kind === 'm') return [];
    return [...examineSwitch(examination, table, facts), ...examinePolicies(examination, table, facts)];
  });
}

/** Checks that row level security is on and applies to the role. */
function examineSwitch(examination: Examination, table: CatalogTable, facts: TableAccess): Finding[] {
  const { model, facts: all } = examination;
  const report = (code: Parameters<typeof finding>[0], message: string, remedy: string | null): Finding =>
    finding(code, tableKinds[table.kind], examination.name(table), message, { remedy });
  const sql = examination.tableSql(table);
  const findings: Finding[] = [];
  if (!facts.rowSecurity && facts.policies.length > 0) {
    const message = 'its policies have no effect because row level security is off; enable it';
    findings.push(report('policies-without-rls', message, enableSql(sql)));
  }
  if (all.bypassesRowSecurity) return findings;
  const written = facts.verbs.filter((verb) => verb !== 'select');
  if (!facts.rowSecurity && written.length > 0) {
    const message = `${model.role} can ${inWords(written)} any row because row level security is off; enable it and write policies, or revoke the privileges`;
    findings.push(report('writable-without-rls', message, closeSql(table, sql, written, facts)));
  } else if (!facts.rowSecurity && facts.verbs.length > 0) {
    const message = `${model.role} can select every row because row level security is off; unless all of it is public, enable it and write policies`;
    findings.push(report('readable-without-rls', message, closeSql(table, sql, facts.verbs, facts)));
  } else if (facts.rowSecurity && facts.owned && !facts.forced) {
    const message = `${model.role} owns it, so no policy applies; give it to another role, or force row level security`;
    findings.push(report('owner-bypasses-rls', message, `alter table ${sql} force row level security;`));
  }
  return findings;
}

function enableSql(table: string): string {
  return `alter table ${table} enable row level security;`;
}

/** Foreign tables have no row level security. */
function closeSql({ kind }: CatalogTable, sql: string, verbs: readonly Verb[], { grantees }: TableAccess): string | null {
  if (kind !== 'f') return enableSql(sql);
  return grantees.length > 0 ? `revoke ${verbs.join(', ')} on table ${sql} from ${grantees.join(', ')};` : null;
}

function examinePolicies(examination: Examination, table: CatalogTable, facts: TableAccess): Finding[] {
  const { model, facts: all } = examination;
  if (!facts.rowSecurity) return [];
  const findings = facts.policies.flatMap((policy) => findSlowCalls(examination, table, policy));
  const binds = !all.bypassesRowSecurity && (facts.forced || !facts.owned);
  if (!binds || facts.verbs.length === 0) return findings;
  const applied = facts.policies.filter(({ applies }) => applies);
  const permissive = applied.filter((policy) => policy.permissive);
  if (!facts.verbs.some((verb) => permissive.some((policy) => isFor(policy, verb)))) {
    const problem = `no policy lets ${model.role} ${facts.verbs.join(', ').replace(/, (\w+)$/, ' or $1')} any row`;
    const message = `row level security is on and ${problem}; write one, or revoke the privileges`;
    findings.push(finding('no-policy', tableKinds[table.kind], examination.name(table), message));
  }
  for (const policy of permissive) {
    const open = facts.verbs.filter((verb) => verb !== 'select' && isFor(policy, verb) && isOpen(policy, verb));
    const restricted = open.every((verb) => applied.some((other) => !other.permissive && isFor(other, verb)));
    if (open.length === 0 || restricted) continue;
    const message = `it lets ${model.role} ${inWords(open)} any row; give it a condition, or revoke the privilege`;
    findings.push(finding('open-policy', 'policy', `${examination.name(table)}.${policy.name}`, message));
  }
  return findings;
}

function isFor({ command }: Policy, verb: Verb): boolean {
  return command === 'all' || command === verb;
}

/**
 * Whether a policy's condition is `true`. `check` applies to inserted rows, or `using` if there is no `check`; `using` applies to existing
 * rows.
 */
function isOpen({ using, check }: Policy, verb: Verb): boolean {
  return (verb === 'insert' ? (check ?? using) : using) === 'true';
}

function findSlowCalls(examination: Examination, table: CatalogTable, { name, using, check }: Policy): Finding[] {
  const better = { using: wrapCalls(using), check: wrapCalls(check) };
  const clauses = [
    ...(better.using === using ? [] : [`using (${better.using})`]),
    ...(better.check === check ? [] : [`with check (${better.check})`]),
  ];
  if (clauses.length === 0) return [];
  const message = 'it calls a function for each row although the result is the same for all; wrap the call in a select';
  const remedy = `alter policy ${examination.quote(name)} on ${examination.tableSql(table)} ${clauses.join(' ')};`;
  return [finding('policy-calls-per-row', 'policy', `${examination.name(table)}.${name}`, message, { remedy })];
}
