/**
 * What the role can do that it probably should not: with tables that row level security does not protect, by views and functions that act
 * for their owner, by its own powers. Also policies that hide everything, or are slow.
 */
import type { CatalogTable } from '../catalog/catalog.ts';
import { functionName, tableKinds } from '../model/naming/names.ts';
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';
import { wrapCalls } from './policy-calls.ts';
import type { Policy, TableAccess, Verb, ViewBypass } from './safety.ts';

export function findOpenAccess(examination: Examination): Finding[] {
  const parts = [findPowers, findOpenTables, findOpenViews, findDefiners, findProcedures, findMislabelledFunctions];
  return parts.flatMap((find) => find(examination));
}

/** The findings for all exposed tables, except views, which have no row level security of their own. */
function findOpenTables(examination: Examination): Finding[] {
  return examination.catalog.tables.flatMap((table) => {
    const safety = examination.safety.tables.get(table.id);
    if (!safety || table.kind === 'v' || table.kind === 'm') return [];
    return [...examineSwitch(examination, table, safety), ...examinePolicies(examination, table, safety)];
  });
}

function examineSwitch(examination: Examination, table: CatalogTable, safety: TableAccess): Finding[] {
  const { model, safety: all } = examination;
  const report = (code: Parameters<typeof finding>[0], message: string, remedy: string | null): Finding =>
    finding(code, tableKinds[table.kind], examination.name(table), message, { remedy });
  const sql = examination.tableSql(table);
  const findings: Finding[] = [];
  if (!safety.rowSecurity && safety.policies.length > 0) {
    const message = 'its policies have no effect because row level security is off; enable it';
    findings.push(report('policies-without-rls', message, enableSql(sql)));
  }
  if (all.bypassesRowSecurity) return findings;
  const written = safety.verbs.filter((verb) => verb !== 'select');
  if (!safety.rowSecurity && written.length > 0) {
    const message = `${model.role} can ${inWords(written)} any row because row level security is off; enable it and write policies, or revoke the privileges`;
    findings.push(report('writable-without-rls', message, closeSql(table, sql, written, safety)));
  } else if (!safety.rowSecurity && safety.verbs.length > 0) {
    const message = `${model.role} can select every row because row level security is off; unless all of it is public, enable it and write policies`;
    findings.push(report('readable-without-rls', message, closeSql(table, sql, safety.verbs, safety)));
  } else if (safety.rowSecurity && safety.owned && !safety.forced) {
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

function examinePolicies(examination: Examination, table: CatalogTable, safety: TableAccess): Finding[] {
  const { model, safety: all } = examination;
  if (!safety.rowSecurity) return [];
  const findings = safety.policies.flatMap((policy) => findSlowCalls(examination, table, policy));
  const binds = !all.bypassesRowSecurity && (safety.forced || !safety.owned);
  if (!binds || safety.verbs.length === 0) return findings;
  const applied = safety.policies.filter(({ applies }) => applies);
  const permissive = applied.filter((policy) => policy.permissive);
  if (!safety.verbs.some((verb) => permissive.some((policy) => isFor(policy, verb)))) {
    const problem = `no policy lets ${model.role} ${safety.verbs.join(', ').replace(/, (\w+)$/, ' or $1')} any row`;
    const message = `row level security is on and ${problem}; write one, or revoke the privileges`;
    findings.push(finding('no-policy', tableKinds[table.kind], examination.name(table), message));
  }
  for (const policy of permissive) {
    const open = safety.verbs.filter((verb) => verb !== 'select' && isFor(policy, verb) && isOpen(policy, verb));
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

const securityInvokerSince = 150_000;

/** A finding for each exposed view that the role may use and each view in its definition that bypasses row level security. */
function findOpenViews(examination: Examination): Finding[] {
  const { safety } = examination;
  if (safety.bypassesRowSecurity) return [];
  return safety.viewBypasses.flatMap((bypass) => {
    const view = examination.catalogTable(bypass.viewId);
    if (!view || (safety.tables.get(view.id)?.verbs ?? []).length === 0) return [];
    const { throughId, through, materialized, owner, tables } = bypass;
    const by = throughId === view.id ? 'it' : `${through}, which it reads from,`;
    const how = materialized ? 'was filled' : 'reads';
    const problem = `${by} ${how} with the privileges of ${owner}, who bypasses the policies of ${inWords(tables)}`;
    const message = `${problem}; ${remedyInWords(examination, bypass)}`;
    return finding('view-bypasses-rls', tableKinds[view.kind], examination.name(view), message, { remedy: remedySql(examination, bypass) });
  });
}

function canInvoke({ safety }: Examination, { materialized }: ViewBypass): boolean {
  return !materialized && safety.serverVersion >= securityInvokerSince;
}

function remedyInWords(examination: Examination, bypass: ViewBypass): string {
  return canInvoke(examination, bypass) ? 'make it a security invoker view, or revoke the privileges' : 'revoke the privileges';
}

function remedySql(examination: Examination, bypass: ViewBypass): string | null {
  if (canInvoke(examination, bypass)) return `alter view ${bypass.through} set (security_invoker = true);`;
  const view = examination.catalogTable(bypass.viewId);
  const grantees = examination.safety.tables.get(bypass.viewId)?.grantees ?? [];
  return view && grantees.length > 0 ? `revoke all on table ${examination.tableSql(view)} from ${grantees.join(', ')};` : null;
}

function findDefiners(examination: Examination): Finding[] {
  const { catalog, model, safety } = examination;
  if (safety.bypassesRowSecurity) return [];
  return catalog.functions.flatMap((catalogFunction) => {
    const definer = safety.definerFunctions.get(catalogFunction.id);
    if (!definer) return [];
    const { owner, ownerBypassesRowSecurity, fixedSearchPath, grantees } = definer;
    const name = functionName(catalog, catalogFunction);
    const routine = examination.routineSql(catalogFunction);
    const power = ownerBypassesRowSecurity ? ', who bypasses row level security' : '';
    const message = `${model.role} can execute it with the privileges of ${owner}${power}; if that is not intended, revoke the privilege or make it security invoker`;
    const remedy = grantees.length > 0 ? `revoke execute on ${routine} from ${grantees.join(', ')};` : null;
    const open = finding('open-definer-function', 'function', name, message, { remedy });
    if (fixedSearchPath) return [open];
    const danger = `it runs with the privileges of ${owner} but looks up names in the search path of its caller; set its search path`;
    const fix = `alter ${routine} set search_path = ${examination.quote(catalogFunction.schema)}, pg_temp;`;
    return [open, finding('definer-search-path', 'function', name, danger, { remedy: fix })];
  });
}

/** As in pg_graphql, procedures are fields, but calling one fails. */
function findProcedures({ catalog, model }: Examination): Finding[] {
  const fields = new Set(model.routines.map(({ id }) => id));
  return catalog.functions.flatMap((catalogFunction) => {
    if (!fields.has(catalogFunction.id) || catalogFunction.kind !== 'p') return [];
    return finding(
      'call-fails',
      'function',
      functionName(catalog, catalogFunction),
      'it is a procedure, so its field always fails; make it a function',
    );
  });
}

const mostTables = 3;

function findMislabelledFunctions(examination: Examination): Finding[] {
  return examination.catalog.mislabelled.map(({ signature, tableIds }) => {
    const names = tableIds.slice(0, mostTables).map((id) => examination.name(examination.catalogTable(id)!));
    if (tableIds.length > mostTables) names.push(`${tableIds.length - mostTables} more`);
    const users = names.length > 0 ? ` (used by ${inWords(names)})` : '';
    const message = `it is labelled immutable, but may read the claims of the caller${users}, so other programs on this database may give one user's result to another, and requests are planned anew each time; label it stable`;
    return finding('immutable-reads-claims', 'function', signature, message, { remedy: `alter function ${signature} stable;` });
  });
}

/** The role that bypasses row level security by design, from the SQL of `rowgraph roles`. */
const serviceRole = 'service_role';

function findPowers(examination: Examination): Finding[] {
  const { model, safety, catalog } = examination;
  if (safety.bypassesRowSecurity) {
    const message = 'it is a superuser or bypasses row level security, so it can read and write every row; run requests as another role';
    return model.role === serviceRole ? [] : [finding('role-bypasses-rls', 'role', model.role, message)];
  }
  const searched = new Map([...catalog.schemas, ...catalog.operatorSchemas].map(({ id, name }) => [id, name]));
  return [...searched].flatMap(([id, name]) => {
    const grantees = safety.creatable.get(id);
    if (!grantees) return [];
    const message = `${model.role} can create objects in it; revoke the privilege`;
    const remedy = grantees.length > 0 ? `revoke create on schema ${examination.quote(name)} from ${grantees.join(', ')};` : null;
    return finding('may-create-objects', 'schema', name, message, { remedy });
  });
}
