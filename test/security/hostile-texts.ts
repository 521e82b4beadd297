/** Texts that would do harm in SQL, JSON, array literals or logs if they got there as anything but a value, and how to see that none did. */
import type { ErrorObject } from '../../src/errors/api-error.ts';

/** In every hostile text, so that it is found wherever it ends up. */
export const marker = 'hostile7f3a';
const harm = 'insert into canary values (1)';

/** Without a NUL character and in well-formed Unicode: PostgreSQL can store these. */
export const storableTexts: readonly string[] = [
  `${marker}'; ${harm}; --`,
  `${marker}''; ${harm}; --`,
  `${marker}\\'; ${harm}; --`,
  `${marker}\\`,
  `${marker}"; ${harm}; --`,
  `"${marker}"`,
  `${marker}"}'; ${harm}; --`,
  `${marker}') ; ${harm}; select ('`,
  `${marker}' union select 'x`,
  `' || (${harm} returning '${marker}') || '`,
  `${marker}$$; ${harm}; $$`,
  `$x$${marker}$x$; ${harm}; --`,
  `$1 ${marker} $2::int4`,
  `${marker}*/; ${harm}; /*`,
  `/* ${marker}`,
  `-- ${marker}\n; ${harm}`,
  `{${marker},"x",NULL}`,
  `${marker}","y",{}`,
  `NULL) ${marker}`,
  `{"${marker}": "'"}`,
  `${marker}\r\n\t\b\f\x01\x1b[31m`,
  `${marker}\u2028\u2029\ufeff\u200b\u202e`,
  `${marker}\u02bc; \u2018${harm}\u2019 \uff07 \u201c\u201d \uff02`,
  `${marker}\u{1f600}\u{10ffff}`,
  `\${process.exit(1)} ${marker} {{7*7}} #{7} <%= 7 %> %s %I %L %n`,
  `E'\\x27${marker}' U&'\\0027' x'27' \\u0027 &#39;`,
  `__proto__ ${marker} constructor`,
  `rowgraph: update impacts too many records ${marker}`,
  `</script><script>${marker}</script>`,
  `${marker}${"'".repeat(40_000)}`,
];

/** These PostgreSQL cannot store. */
export const unstorableTexts: readonly string[] = [`${marker}\0'; ${harm}; --`, `\0${marker}`, `${marker}\ud800'`, `\udc00${marker}`];

export const hostileTexts: readonly string[] = [...storableTexts, ...unstorableTexts];

/** A GraphQL string, on one line. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\ud800-\udfff\u2028\u2029]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A GraphQL block string, which can hold no control characters and drops indentation. */
export function blockQuoted(text: string): string {
  return `"""${text.replaceAll('"""', '\\"""')} """`;
}

const stackTrace = /\n {4}at |\.[tj]s:\d+|node_modules|file:\/\/\//;
/** What only our statements hold: aliases with columns, casts of placeholders, catalogs. */
const sqlText = /\bt\d+\."|\$\d+::|\bpg_catalog\.|::text\b|string_agg|set_config|rowgraph\./;

/** What is wrong with the errors of a response: a trace, SQL, or the code of a defect. */
export function leaksOf(errors: readonly ErrorObject[] | undefined, given: string): string[] {
  return (errors ?? []).flatMap(({ message, extensions }) => {
    const { code, ...details } = extensions;
    // What the client sent may be said back to it.
    const own = JSON.stringify([message, details]).replaceAll(JSON.stringify(given).slice(1, -1), '');
    const leaks = [stackTrace, sqlText].filter((pattern) => pattern.test(own)).map((pattern) => `${pattern} in ${own.slice(0, 500)}`);
    return code === 'INTERNAL_ERROR' ? [...leaks, `a defect: ${own.slice(0, 500)}`] : leaks;
  });
}

/** SQL that yields one text which changes with any object of the catalog, and with any row of a table of the user's. */
export const catalogChecksum = `select md5(concat_ws('|',
  (select string_agg(to_jsonb(c)::text, ',' order by c.oid) from (select oid, relname, relnamespace, relkind, relowner, relacl, relrowsecurity, relnatts, relhastriggers from pg_class) c),
  (select string_agg(concat_ws(' ', p.oid, p.xmin), ',' order by p.oid) from pg_proc p),
  (select string_agg(concat_ws(' ', a.attrelid, a.attnum, a.attname, a.atttypid, a.attacl), ',' order by a.attrelid, a.attnum) from pg_attribute a),
  (select string_agg(concat_ws(' ', n.oid, n.xmin), ',' order by n.oid) from pg_namespace n),
  (select string_agg(concat_ws(' ', t.oid, t.xmin), ',' order by t.oid) from pg_type t),
  (select string_agg(concat_ws(' ', e.oid, e.xmin), ',' order by e.oid) from pg_enum e),
  (select string_agg(r::text, ',' order by r.oid) from pg_roles r),
  (select string_agg(concat_ws(' ', m.roleid, m.member, m.xmin), ',' order by m.xmin::text, m.roleid, m.member) from pg_auth_members m),
  (select string_agg(s::text, ',' order by s.setdatabase, s.setrole) from pg_db_role_setting s),
  (select string_agg(concat_ws(' ', t.oid, t.xmin), ',' order by t.oid) from pg_trigger t),
  (select string_agg(concat_ws(' ', p.oid, p.xmin), ',' order by p.oid) from pg_policy p),
  (select string_agg(concat_ws(' ', c.oid, c.xmin), ',' order by c.oid) from pg_constraint c),
  (select string_agg(concat_ws(' ', d.objoid, d.objsubid, md5(d.description)), ',' order by d.classoid, d.objoid, d.objsubid) from pg_description d),
  (select string_agg(md5(query_to_xml(format('select t from %s t order by t::text', c.oid::regclass), true, true, '')::text), ',' order by c.oid)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)')
)) as checksum`;
