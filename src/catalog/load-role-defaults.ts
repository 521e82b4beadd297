/**
 * Loads the settings of `alter role … set` (https://www.postgresql.org/docs/current/config-setting.html#CONFIG-SETTING-SQL). PostgreSQL
 * applies them only at login, but requests switch to a role without one.
 */

import type { RequestDatabase, RoleDefaults } from '../database/database.ts';
import type { DatabaseError } from '../errors/database-error.ts';

/**
 * Settings for this database override those for all databases. Corrections override what the server, database or login says, where values
 * would change on their way: rounded numbers in a cursor or nodeId would match no row, and nulls in lists would be the text "NULL".
 */
const defaultsQuery = `
with applied as (
  select distinct on (1) pg_catalog.split_part(c.text, '=', 1) as name, pg_catalog.substr(c.text, pg_catalog.strpos(c.text, '=') + 1) as value
  from pg_catalog.pg_db_role_setting d
    join pg_catalog.pg_roles r on r.oid = d.setrole
    cross join pg_catalog.unnest(d.setconfig) c(text)
  where r.rolname = $1::text
    and d.setdatabase in (0, (select b.oid from pg_catalog.pg_database b where b.datname = pg_catalog.current_database()))
  order by 1, d.setdatabase desc
)
select pg_catalog.json_build_object(
  'loginTimeout', pg_catalog.current_setting('statement_timeout'),
  'isLoginReadOnly', pg_catalog.current_setting('default_transaction_read_only')::bool,
  'corrections', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(c.name, c.value))
    from (values
      ('extra_float_digits', '1', pg_catalog.current_setting('extra_float_digits')::int4 < 1),
      ('array_nulls', 'on', not pg_catalog.current_setting('array_nulls')::bool)
    ) c(name, value, is_needed)
    where c.is_needed
  ),
  'settings', (select pg_catalog.json_agg(pg_catalog.json_build_array(pg_catalog.lower(a.name), a.value) order by a.name) from applied a)
)::text`;

const setQuery = 'select pg_catalog.set_config($1, $2, true)';
/**
 * SQLSTATE classes of a setting that cannot be set: it is unknown, its value names an object that no longer exists, the login role may not
 * set it, or it cannot change within a session.
 */
const unsettable: ReadonlySet<string> = new Set(['22', '42', '55']);

/**
 * Settings not passed on: rowgraph sets them for each request or treats them separately below, they change how PostgreSQL reads or writes values, or
 * a connection can no longer change them (`temp_buffers`, after the first temporary table).
 */
const chosen: ReadonlySet<string> = new Set([
  'role',
  'session_authorization',
  'search_path',
  'request.jwt.claims',
  'jit',
  'client_encoding',
  'extra_float_digits',
  'array_nulls',
  'temp_buffers',
  'statement_timeout',
  'default_transaction_isolation',
  'default_transaction_deferrable',
]);

interface RawDefaults {
  readonly loginTimeout: string;
  readonly isLoginReadOnly: boolean;
  readonly corrections: RoleDefaults['settings'] | null;
  readonly settings: readonly (readonly [name: string, value: string])[] | null;
}

/** Loads the role's settings that a request can set; none if the role does not exist. */
export async function loadRoleDefaults(database: RequestDatabase, role: string): Promise<RoleDefaults> {
  const [row] = await database.query(defaultsQuery, [role]);
  const { loginTimeout, isLoginReadOnly, corrections, settings } = JSON.parse(row?.[0] ?? '{"loginTimeout":"0"}') as RawDefaults;
  const byName = new Map(settings ?? []);
  const timeout = readMillis(byName.get('statement_timeout') ?? loginTimeout);
  const own = await settable(
    database,
    [...byName].filter(([name, value]) => !chosen.has(name) && !(name === readOnly && isOff(value))),
  );
  return {
    statementTimeout: timeout > 0 ? timeout : null,
    isolation: byName.get('default_transaction_isolation') ?? null,
    mayWrite: isLoginReadOnly && isOff(byName.get(readOnly)),
    settings: [...(corrections ?? []), ...own],
  };
}

/**
 * Keeps the settings that the login role can set. At login PostgreSQL only warns about the others, but in a request each would be an error.
 */
async function settable(database: RequestDatabase, settings: RoleDefaults['settings']): Promise<RoleDefaults['settings']> {
  const kept: (readonly [name: string, value: string])[] = [];
  for (const [name, value] of settings) {
    const setting = [transactionNames[name] ?? name, value] as const;
    try {
      await database.query(setQuery, setting);
      kept.push(setting);
    } catch (error) {
      if (!unsettable.has((error as DatabaseError).sqlstate?.slice(0, 2) ?? '')) throw error;
    }
  }
  return kept;
}

const readOnly = 'default_transaction_read_only';
/** Transaction defaults, with the setting of the current transaction that each corresponds to. */
const transactionNames: Readonly<Record<string, string>> = { [readOnly]: 'transaction_read_only' };

/** Whether PostgreSQL reads the value of a boolean setting as false (`parse_bool`), which accepts unambiguous prefixes. */
function isOff(value: string | undefined): boolean {
  return value !== undefined && /^(f|fa|fal|fals|false|n|no|of|off|0)$/i.test(value);
}

const unitMillis: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses a duration as PostgreSQL writes it (https://www.postgresql.org/docs/current/config-setting.html#CONFIG-SETTING-NAMES-VALUES) into
 * milliseconds.
 */
function readMillis(text: string): number {
  const [, amount, unit = 'ms'] = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text) ?? [];
  return Number(amount ?? 0) * unitMillis[unit]!;
}
