/** Tables and functions whose live answers change without any table changing: what they read is nothing that a database announces. */
import { loadDependencies } from '../catalog/load-dependencies.ts';
import type { Database } from '../database/database.ts';
import { qualifiedName } from '../model/naming/names.ts';
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';

/** The most tables and functions to ask about: each is a query of some milliseconds. */
const mostAsked = 500;

/** Reads what live queries on these depend on. Plain tables without policies depend on nothing else. */
export async function findUnannounced(database: Database, { model }: Examination): Promise<Finding[]> {
  if (model.subscriptionType === null) return [];
  const mayDepend = model.tables.filter(({ selectable, kind, rowSecurity }) => selectable && (kind !== 'table' || rowSecurity));
  const asked = [
    ...mayDepend
      .filter(({ additions, liveRefresh }) => additions.has('subscriptions') && liveRefresh === null)
      .map(({ id, kind, schema, name }) => ({ object: kind, name: qualifiedName(schema, name), tables: [id], functions: [] })),
    ...model.routines
      .filter(({ volatile, subscribable, liveRefresh }) => !volatile && subscribable && liveRefresh === null)
      .map(({ id, schema, name }) => ({ object: 'function' as const, name: qualifiedName(schema, name), tables: [], functions: [id] })),
  ];
  const findings: Finding[] = [];
  for (const { object, name, tables, functions } of asked.slice(0, mostAsked)) {
    const { unannounced } = await loadDependencies(database, tables, functions);
    if (unannounced.length === 0) continue;
    const remedy = 'live queries on it need a refresh interval: --live-refresh, or a comment such as @graphql({"live": {"refresh": 5}})';
    findings.push(finding('live-unannounced', object, name, `no change is announced of ${inWords(unannounced)}; ${remedy}`));
  }
  return findings;
}
