/** Privileges that a role for requests should not have: bypassing policies, and creating objects in schemas where names are looked up. */
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** The role that bypasses row level security by design, from the SQL of `rowgraph roles`. */
const serviceRole = 'service_role';

export function findPowers(examination: Examination): Finding[] {
  const { model, facts, catalog } = examination;
  if (facts.bypassesRowSecurity) {
    const message = 'it is a superuser or bypasses row level security, so it can read and write every row; run requests as another role';
    return model.role === serviceRole ? [] : [finding('role-bypasses-rls', 'role', model.role, message)];
  }
  const searched = new Map([...catalog.schemas, ...catalog.operatorSchemas].map(({ id, name }) => [id, name]));
  return [...searched].flatMap(([id, name]) => {
    const grantees = facts.creatable.get(id);
    if (!grantees) return [];
    const message = `${model.role} can create objects in it; revoke the privilege`;
    const remedy = grantees.length > 0 ? `revoke create on schema ${examination.quote(name)} from ${grantees.join(', ')};` : null;
    return finding('may-create-objects', 'schema', name, message, { remedy });
  });
}
