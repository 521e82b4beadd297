/**
 * Loads the settings that `alter role … set` gives a role (https://www.postgresql.org/docs/current/config-setting.html#CONFIG-SETTING-SQL): requests become the
 * role without a login, so PostgreSQL does not apply these settings by itself.
 */
import type { Database, RoleDefaults } from '../database/database.ts';

/**
 * Settings for this database override those for all databases. A setting that only a superuser may change is skipped unless the login role is one,
 * because PostgreSQL would reject every request.
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
  'loginTimeout', (select s.setting::int8 from pg_catalog.pg_settings s where s.name = 'statement_timeout'),
  'settings', (
    select pg_catalog.json_agg(pg_catalog.json_build_array(pg_catalog.lower(a.name), a.value) order by a.name)
    from applied a left join pg_catalog.pg_settings s on pg_catalog.lower(s.name) = pg_catalog.lower(a.name)
    where s.context = 'user'
      or (s.context is null and pg_catalog.strpos(a.name, '.') > 0)
      or (s.context = 'superuser' and (select r.rolsuper from pg_catalog.pg_roles r where r.rolname = session_user))
  )
)::text`;

/** Settings that rowgraph chooses for each request, that have a meaning of their own below, or that would change how PostgreSQL writes values. */
const chosen: ReadonlySet<string> = new Set([
  'role',
  'session_authorization',
  'search_path',
  'request.jwt.claims',
  'jit',
  'client_encoding',
  'statement_timeout',
  'default_transaction_isolation',
  'default_transaction_deferrable',
]);

interface RawDefaults {
  readonly loginTimeout: number;
  readonly settings: readonly (readonly [name: string, value: string])[] | null;
}

/** Loads the settings of a role; none for a role that does not exist. */
export async function loadRoleDefaults(database: Database, role: string): Promise<RoleDefaults> {
  const [row] = await database.query(defaultsQuery, [role]);
  const { loginTimeout, settings } = JSON.parse(row?.[0] ?? '{"loginTimeout":0}') as RawDefaults;
  const byName = new Map(settings ?? []);
  const own = byName.get('statement_timeout');
  const timeout = own === undefined ? loginTimeout : readMillis(own);
  return {
    statementTimeout: timeout > 0 ? timeout : null,
    isolation: byName.get('default_transaction_isolation') ?? null,
    settings: [...byName].filter(([name]) => !chosen.has(name)).map(([name, value]) => [transactionNames[name] ?? name, value]),
  };
}

/** For a default of transactions, the name of the setting of the current one. */
const transactionNames: Readonly<Record<string, string>> = { default_transaction_read_only: 'transaction_read_only' };

const unitMillis: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as PostgreSQL writes it (https://www.postgresql.org/docs/current/config-setting.html#CONFIG-SETTING-NAMES-VALUES), in milliseconds. */
function readMillis(text: string): number {
  const [, amount, unit = 'ms'] = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text) ?? [];
  return Number(amount ?? 0) * unitMillis[unit]!;
}
