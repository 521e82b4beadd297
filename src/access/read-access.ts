/** Reads who may do what with which rows from the catalogs. It only reads. */
import { runInSlices } from '../budget/turns.ts';
import { parseLists } from '../catalog/lists.ts';
import type { Database } from '../database/database.ts';
import { tableKinds } from '../model/naming/names.ts';
import type { AccessOptions, AccessReport, RoleAccess, RoleFacts, TableAccess } from './access.ts';
import { accessLists, accessQuery, type RawPrivileges } from './access-query.ts';
import { describePolicy, describeRoles, describeTable, writeTableSql } from './describe-access.ts';
import { judgeRole, type Subject } from './judge-access.ts';

/** `loadTypeNames`: the row types of tables in the API of some of the roles, by oid. */
export async function readAccess(
  database: Pick<Database, 'query'>,
  schemas: readonly string[],
  options: AccessOptions,
  loadTypeNames: (roles: readonly string[]) => Promise<ReadonlyMap<number, string>>,
): Promise<AccessReport> {
  const [row] = await database.query(accessQuery, [JSON.stringify({ schemas, ...options })]);
  if (!row) throw new Error('The query for access returned no row.');
  const { roles, relations, grants, policies, privileges, sources, definers } = await runInSlices(parseLists(accessLists, row));
  const typeNames = await loadTypeNames(roles.map(({ name }) => name));
  const ofTable = <Item extends { readonly tableId: number }>(items: readonly Item[]): Map<number, Item[]> =>
    Map.groupBy(items, ({ tableId }) => tableId);
  const [grantsOf, policiesOf, privilegesOf] = [ofTable(grants), ofTable(policies), ofTable(privileges)];
  const sourcesOf = Map.groupBy(sources, ({ viewId }) => viewId);
  const tables = relations.map((relation) => {
    const subject: Subject = {
      relation,
      grants: grantsOf.get(relation.id) ?? [],
      policies: policiesOf.get(relation.id) ?? [],
      sources: sourcesOf.get(relation.id) ?? [],
    };
    return assemble(subject, roles, privilegesOf.get(relation.id) ?? [], typeNames.get(relation.id) ?? null);
  });
  return { schemas, roles, tables, definers };
}

function assemble(
  subject: Subject,
  facts: readonly RoleFacts[],
  privileges: readonly RawPrivileges[],
  typeName: string | null,
): TableAccess {
  const { schema, name, sql, kind, owner, rowSecurity, forced, columns } = subject.relation;
  const roles = facts.flatMap((role): RoleAccess[] => {
    const own = privileges.find((each) => each.role === role.name);
    return own === undefined ? [] : [{ role: role.name, verbs: judgeRole(subject, role, own) }];
  });
  const hasRowSecurity = kind === 'r' || kind === 'p';
  return {
    schema,
    name,
    kind: tableKinds[kind],
    owner,
    typeName,
    rowSecurity: !hasRowSecurity ? 'none' : !rowSecurity ? 'off' : forced ? 'forced' : 'on',
    columns,
    sentences: describeRoles(roles, facts),
    notes: describeTable(subject, roles, facts),
    roles,
    policies: subject.policies.map((policy) => describePolicy(policy, sql)),
    sql: writeTableSql(subject),
  };
}
