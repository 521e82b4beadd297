/** Views that show the role rows that row level security would hide, because they read with the privileges of their owner. */
import { tableKinds } from '../model/table-kinds.ts';
import { type Examination, inWords } from './examination.ts';
import type { ViewBypass } from './facts.ts';
import { type Finding, finding } from './report.ts';

const securityInvokerSince = 150_000;

/** A finding for each exposed view that the role may use and each view in its definition that bypasses row level security. */
export function findOpenViews(examination: Examination): Finding[] {
  const { catalog, facts } = examination;
  if (facts.bypassesRowSecurity) return [];
  return facts.viewBypasses.flatMap((bypass) => {
    const view = catalog.tables.find(({ id }) => id === bypass.viewId);
    if (!view || (facts.tables.get(view.id)?.verbs ?? []).length === 0) return [];
    const { through, owner, tables } = bypass;
    const by = through.id === view.id ? 'it' : `${through.name}, which it reads from,`;
    const how = through.materialized ? 'was filled' : 'reads';
    const problem = `${by} ${how} with the privileges of ${owner}, who bypasses the policies of ${inWords(tables)}`;
    const message = `${problem}; ${remedyInWords(examination, bypass)}`;
    return finding('view-bypasses-rls', tableKinds[view.kind], examination.name(view), message, { remedy: remedySql(examination, bypass) });
  });
}

function canInvoke({ facts }: Examination, { through }: ViewBypass): boolean {
  return !through.materialized && facts.serverVersion >= securityInvokerSince;
}

function remedyInWords(examination: Examination, bypass: ViewBypass): string {
  return canInvoke(examination, bypass) ? 'make it a security invoker view, or revoke the privileges' : 'revoke the privileges';
}

function remedySql(examination: Examination, bypass: ViewBypass): string | null {
  if (canInvoke(examination, bypass)) return `alter view ${bypass.through.name} set (security_invoker = true);`;
  const view = examination.catalog.tables.find(({ id }) => id === bypass.viewId);
  const grantees = examination.facts.tables.get(bypass.viewId)?.grantees ?? [];
  return view && grantees.length > 0 ? `revoke all on table ${examination.tableSql(view)} from ${grantees.join(', ')};` : null;
}
