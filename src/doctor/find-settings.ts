/**
 * Settings that definitions read and nobody sets: they are always null or empty, so that a policy on one hides every row, or shows it to
 * everybody. Checked in all schemas, because policies call functions of any. Also schemas of `extraSearchPath` that do not exist.
 */
import { loadSettingReaders, type SettingReader, settingsNamedIn } from '../catalog/setting-readers.ts';
import type { Database } from '../database/database.ts';
import { automatic, requestPart } from '../settings/check-settings.ts';
import { inWords } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';

/** What depends on settings of the graph beside the schema: the options of `createRowgraph`. */
export interface ExaminedSettings {
  readonly extraSearchPath: readonly string[];
  readonly requestSettings: readonly string[];
  readonly requestHeaders: readonly string[];
  readonly replicas?: readonly ExaminedReplica[] | undefined;
}

interface ExaminedReplica {
  readonly name: string;
  /** Why it gets no queries; null if it does. */
  readonly problem: string | null;
  /** Whether the login role sees which timeline it receives. */
  readonly seesTimeline: boolean;
}

/** What rowgraph sets for every request; those of PostgreSQL itself have no dot in their names. */
const alwaysSet = 'request.jwt.claims';

/**
 * Of these names, those with a value on a new connection or by `alter role` or `alter database`, and those that a function sets. A name has
 * no characters that mean something in a regular expression but dots and dollar signs.
 */
const setQuery = `
select s.name from pg_catalog.json_array_elements_text($1::json) s(name)
where coalesce(pg_catalog.current_setting(s.name, true), '') <> ''
  or exists (
    select from pg_catalog.pg_db_role_setting d, pg_catalog.unnest(d.setconfig) c(text)
    where pg_catalog.lower(pg_catalog.split_part(c.text, '=', 1)) = pg_catalog.lower(s.name)
  )
  or exists (
    select from pg_catalog.pg_proc p
    where p.oid >= 16384 and (
      p.prosrc ~* ('\\mset(_config\\s*\\(\\s*''|\\s+(local\\s+|session\\s+)?"?)' || pg_catalog.regexp_replace(s.name, '([.$])', '\\\\\\1', 'g') || '\\M')
      or exists (
        select from pg_catalog.unnest(p.proconfig) c(text) where pg_catalog.lower(pg_catalog.split_part(c.text, '=', 1)) = pg_catalog.lower(s.name)
      )
    )
  )`;

export async function findSettings(database: Database, examined: ExaminedSettings): Promise<Finding[]> {
  const missing = await findMissingSearchPath(database, examined.extraSearchPath);
  return [...missing, ...(await findUnsetSettings(database, examined)), ...findReplicas(examined)];
}

function findReplicas({ replicas = [] }: ExaminedSettings): Finding[] {
  const message =
    'after a promotion, it gets queries only once it has a restartpoint, because the login role does not see what it receives: grant pg_read_all_stats to it';
  return replicas.flatMap(({ name, problem, seesTimeline }) => {
    if (problem !== null) return [finding('replica-unused', 'replica', name, `it gets no queries: ${problem}`)];
    return seesTimeline ? [] : [finding('replica-timeline', 'replica', name, message)];
  });
}

async function findUnsetSettings(database: Database, { requestSettings, requestHeaders }: ExaminedSettings): Promise<Finding[]> {
  const readers = (await loadSettingReaders(database, 'any')).map((reader) => ({ reader, names: settingsReadBy(reader) }));
  const names = [...new Set(readers.flatMap((each) => each.names))];
  const rows = names.length === 0 ? [] : await database.query(setQuery, [JSON.stringify(names)]);
  const isAutomatic = requestSettings.includes(automatic);
  const always = new Set([alwaysSet, ...requestSettings, ...rows.map(([name]) => name!)].map((name) => name.toLowerCase()));
  const isSet = (name: string): boolean => always.has(name.toLowerCase()) || (isAutomatic && requestPart(name) !== null);
  const headers = new Set(requestHeaders.map((name) => name.toLowerCase()));
  return readers.flatMap(({ reader, names }) => {
    const messages = [
      ...describeUnset(names.filter((name) => !isSet(name))),
      ...describeComputed(reader, requestSettings),
      ...describeHeaders(headersReadBy(reader, names).filter((name) => !headers.has(name))),
    ];
    return messages.map((message) => finding('unset-setting', reader.object, reader.name, message));
  });
}

/** The literals that are arguments of `current_setting`, or that can only mean a setting of a request. */
function settingsReadBy({ text }: SettingReader): readonly string[] {
  const read = new Set([...text.matchAll(/\bcurrent_setting\s*\(\s*'([^']+)'/gi)].map(([, name]) => name!));
  return settingsNamedIn(text).filter((name) => read.has(name) || requestPart(name) !== null);
}

function describeUnset(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const ours = names.filter((name) => requestPart(name) !== null);
  const others = names.filter((name) => requestPart(name) === null);
  return [
    ...(ours.length === 0 ? [] : [`it reads ${inWords(ours)}, which requestSettings leaves out; add "auto" there`]),
    ...(others.length === 0
      ? []
      : [`it reads ${inWords(others)}, which nobody sets; read a claim from request.jwt.claims, or set it: alter role … set`]),
  ];
}

/** Names that are put together when they are read: nobody can tell which. */
function describeComputed({ text }: SettingReader, listed: readonly string[]): string[] {
  const prefixes = [...text.matchAll(/'(request\.jwt\.claim\.|request\.header\.|jwt\.claims\.)'/gi)].map(([, prefix]) =>
    prefix!.toLowerCase(),
  );
  const missing = [...new Set(prefixes)].filter((prefix) => !listed.some((name) => name.toLowerCase().startsWith(prefix)));
  if (missing.length === 0) return [];
  return [`it reads settings whose names begin with ${inWords(missing)} and are put together; list them in requestSettings beside "auto"`];
}

/** The headers that a definition reads, as far as it names them where it reads the setting. */
function headersReadBy({ text }: SettingReader, names: readonly string[]): readonly string[] {
  const inJson = [...text.matchAll(/'request\.headers'(?:[^'>;]|'')*?->>?\s*'([^']+)'/gi)].map(([, name]) => name!.toLowerCase());
  const single = names.map(requestPart).flatMap((part) => (part?.kind === 'header' ? [part.key] : []));
  return [...new Set([...inJson, ...single])];
}

function describeHeaders(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  return [
    `it reads the ${names.length === 1 ? 'header' : 'headers'} ${inWords(names)}, which requestHeaders does not list; add what it needs there`,
  ];
}

const missingQuery = `
select s.name from pg_catalog.json_array_elements_text($1::json) s(name)
where not exists (select from pg_catalog.pg_namespace n where n.nspname = s.name)`;

async function findMissingSearchPath(database: Database, extraSearchPath: readonly string[]): Promise<Finding[]> {
  if (extraSearchPath.length === 0) return [];
  const rows = await database.query(missingQuery, [JSON.stringify(extraSearchPath)]);
  const message = 'it is on the search path but does not exist; create it, or remove it from the setting';
  return rows.map(([name]) => finding('missing-search-path', 'schema', name ?? '', message));
}
