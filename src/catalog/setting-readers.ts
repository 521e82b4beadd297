/** Loads the definitions of a database that read settings, and finds the settings that they name. */
import type { RequestDatabase } from '../database/database.ts';
import { requestSettingPrefixes } from '../settings/check-settings.ts';

export interface SettingReader {
  readonly object: 'function' | 'policy' | 'column' | 'view' | 'materialized view';
  /** Qualified: `public.note.own`, `public.total(integer)`. */
  readonly name: string;
  /** Its definition as SQL or, of a function, in its language. */
  readonly text: string;
}

/** How a text stands in a node tree (`pg_node_tree`): a constant is written as its bytes in decimal. */
const inTree = (text: string): string => [...Buffer.from(text)].join(' ');

/** `pg_proc.oid` of both functions `current_setting`, as a call of them stands in a node tree. */
const callsInTree = [':funcid 2077 ', ':funcid 3294 '];

/**
 * Whether a text contains one of others, none of which has a quote. It is read only once, because catalogs compress it, and with the
 * collation C, which is five times as fast as others.
 */
const containsAny = (text: string, sought: readonly string[]): string =>
  `(select ${sought.map((each) => `pg_catalog.strpos(t.text, '${each}') > 0`).join(' or ')}
    from (select ${text} collate pg_catalog."C" as text offset 0) t)`;

/** Whether the body of a function names a setting of a request; `p` is its row in `pg_proc`. */
const namesRequestSetting = containsAny('p.prosrc', requestSettingPrefixes);

/**
 * Deparsing a tree takes a hundred times as long as searching it, so only what is found in one is deparsed. Objects of PostgreSQL have
 * lower ids than FirstNormalObjectId (16384). What belongs to an extension is its own business.
 */
const readersQuery = (inBody: string, inTrees: readonly string[]): string => `
with found as (
  select 'function' as object, p.pronamespace as schema, p.proname || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')' as name,
    coalesce(pg_catalog.pg_get_function_sqlbody(p.oid), p.prosrc) as text, 'pg_catalog.pg_proc'::pg_catalog.regclass as class, p.oid
  from pg_catalog.pg_proc p
  where p.oid >= 16384 and (${inBody} or ${containsAny('p.prosqlbody::text', inTrees)})
  union all
  select 'policy', c.relnamespace, c.relname || '.' || p.polname,
    pg_catalog.concat_ws(' ', pg_catalog.pg_get_expr(p.polqual, c.oid), pg_catalog.pg_get_expr(p.polwithcheck, c.oid)),
    'pg_catalog.pg_class', c.oid
  from pg_catalog.pg_policy p join pg_catalog.pg_class c on c.oid = p.polrelid
  where ${containsAny("pg_catalog.concat_ws(' ', p.polqual, p.polwithcheck)", inTrees)}
  union all
  select 'column', c.relnamespace, c.relname || '.' || a.attname, pg_catalog.pg_get_expr(d.adbin, c.oid), 'pg_catalog.pg_class', c.oid
  from pg_catalog.pg_attrdef d
    join pg_catalog.pg_class c on c.oid = d.adrelid
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
  where ${containsAny('d.adbin::text', inTrees)}
  union all
  select case c.relkind when 'm' then 'materialized view' else 'view' end, c.relnamespace, c.relname, pg_catalog.pg_get_viewdef(c.oid),
    'pg_catalog.pg_class', c.oid
  from pg_catalog.pg_rewrite w join pg_catalog.pg_class c on c.oid = w.ev_class
  where w.oid >= 16384 and w.ev_type = '1' and ${containsAny('w.ev_action::text', inTrees)}
)
select f.object, n.nspname || '.' || f.name, f.text
from found f join pg_catalog.pg_namespace n on n.oid = f.schema
where n.nspname <> 'rowgraph' and not exists (
  select from pg_catalog.pg_depend d where d.classid = f.class and d.objid = f.oid and d.deptype = 'e'
)
order by 1, 2`;

const queries = {
  request: readersQuery(namesRequestSetting, requestSettingPrefixes.map(inTree)),
  any: readersQuery(containsAny('pg_catalog.lower(p.prosrc)', ['current_setting', ...requestSettingPrefixes]), [
    ...callsInTree,
    ...requestSettingPrefixes.map(inTree),
  ]),
} as const;

/** Loads the functions, policies, defaults of columns and views that name settings of a request, or that read any settings. */
export async function loadSettingReaders(database: RequestDatabase, settings: keyof typeof queries): Promise<readonly SettingReader[]> {
  const rows = await database.query(queries[settings], []);
  return rows.map(([object, name, text]) => ({ object: object as SettingReader['object'], name: name!, text: text ?? '' }));
}

/** How `coalesce(current_setting('…', true), …)` begins; PostgreSQL adds casts to literals when it deparses an expression. */
const orElse = (name: string): string =>
  `coalesce\\s*\\(\\s*(?:nullif\\s*\\(\\s*)?current_setting\\s*\\(\\s*'${name}'(?:::text)?\\s*,\\s*true\\s*\\)` +
  `[^;]{0,100}?'request\\.jwt\\.claims'`;
/**
 * A setting of the older PostgREST, in place of which the same expression takes `request.jwt.claims` or the same claim of it, as Supabase's
 * `auth.jwt()` and `auth.uid()` do: setting it would change nothing.
 */
const replaceable = new RegExp(
  `${orElse('request\\.jwt\\.claim')}|${orElse('request\\.jwt\\.claim\\.(\\w+)')}[^;]{0,100}?->>\\s*'\\1'`,
  'gi',
);
const settingLiteral = /'([a-z_][\w$-]*(?:\.[\w$-]+)+)'/gi;

/** The literals in a definition that may be names of settings, without those that it can do without. */
export function settingsNamedIn(text: string): readonly string[] {
  const names = [...text.replaceAll(replaceable, '').matchAll(settingLiteral)].map(([, name]) => name!);
  return [...new Set(names)];
}
