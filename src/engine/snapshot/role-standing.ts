/**
 * What follows from a role's standing: whether requests may run as it, and the names of the owners of its prepared statements
 * (`Batch.preparedFor`, `Batch.statementOwner`), which say who shares what PostgreSQL has planned.
 */
import { createHash } from 'node:crypto';
import type { CatalogRole, RoleStanding } from '../../catalog/privileges.ts';
import type { RoleDefaults } from '../../database/database.ts';

/**
 * A name for all roles with these privileges and settings. Its first character cannot occur in the name of a role. It is the same in all
 * processes, because a pooler may mix up their connections.
 */
export function nameOfAlike({ privileges }: CatalogRole, defaults: RoleDefaults): string {
  return `\0${createHash('sha256').update(JSON.stringify(defaults)).update(privileges).digest('base64url')}`;
}

/**
 * The names of single roles, for statements whose plans depend on the policies that hold for them. PostgreSQL keeps plans when memberships
 * change. A statement may also be planned between such a change and the moment at which it is noticed, under the name of before: that name
 * is not used again, even if all becomes as it was.
 */
export class OwnNames {
  readonly #known = new Map<string, { policies: string; changes: number }>();

  nameOf({ name, policyRoles: policies }: RoleStanding): string {
    const known = this.#known.get(name) ?? { policies, changes: 0 };
    this.#known.set(name, known);
    if (known.policies !== policies) {
      known.policies = policies;
      known.changes += 1;
    }
    return `${name}\0${policies}\0${known.changes}`;
  }
}

/**
 * Why no request may run as a role. A privileged one must be trusted: otherwise whoever has the JWT secret could name it in a token and
 * have the whole database.
 */
export function refusalOf({ name, assumable, isLogin, powers }: RoleStanding, isTrusted: boolean): string | null {
  const power = powers[0];
  if (isTrusted || (!isLogin && power === undefined))
    return assumable ? null : `permission denied to set role "${name}"; grant it to the login role`;
  const reason = isLogin ? 'is the login role' : powers.includes(name) ? 'has special privileges' : `is a member of "${power}"`;
  return `role "${name}" ${reason}; to let requests run as it, add it to trustedRoles`;
}
