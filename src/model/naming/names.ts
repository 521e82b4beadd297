/**
 * Derives GraphQL names from PostgreSQL's, exactly as pg_graphql does. Inflection is a setting of the schema; a name from a comment
 * directive is used unchanged.
 */
import type { Catalog, CatalogColumn, CatalogFunction, RelationKind } from '../../catalog/catalog.ts';
import type { Additions } from '../additions.ts';
import type { BuildContext, SchemaSettings } from '../build-context.ts';
import { type Directive, readDirective, readName } from '../directives.ts';
import type { TableKind } from '../model.ts';
import type { TableTraits } from '../tables/lazy-table.ts';

/** Whether GraphQL accepts the name (https://spec.graphql.org/October2021/#Name). */
function isLegalName(name: string): boolean {
  return /^[_A-Za-z][_0-9A-Za-z]*$/.test(name);
}

/** Whether the name is legal and not reserved: names with two leading underscores belong to introspection. */
export function isFreeName(name: string): boolean {
  return isLegalName(name) && !name.startsWith('__');
}

/** Whether an enum value may have this name (https://spec.graphql.org/October2021/#EnumValue). */
export function isEnumValueName(name: string): boolean {
  return isFreeName(name) && !['true', 'false', 'null'].includes(name);
}

/**
 * `account_holder` → `AccountHolder`: capitalizes the start and each letter after a character that is not a letter or digit, then removes
 * underscores.
 */
function inflect(name: string): string {
  // A fast path: most names are only letters and digits, and every model has thousands.
  if (/^[A-Za-z0-9]+$/.test(name)) return upperFirst(name);
  return name.replace(/(?<![\p{Alphabetic}\p{N}])./gsu, (character) => character.toUpperCase()).replaceAll('_', '');
}

export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

export function typeNameOf(name: string, inflection: boolean): string {
  return inflection ? inflect(name) : name;
}

/** Latin letters that Unicode does not decompose into a letter and a mark. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', Æ: 'Ae', œ: 'oe', Œ: 'Oe', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L' },
  ...{ đ: 'd', Đ: 'D', ð: 'd', Ð: 'D', þ: 'th', Þ: 'Th', ı: 'i' },
};

/**
 * A name in characters that GraphQL allows: Latin letters lose their marks (`naïve` → `naive`), punctuation and spaces become underscores
 * (`user-role` → `user_role`), and everything else becomes its code point (`ключ` → `u043au043bu044eu0447`).
 */
function spell(name: string): string {
  if (/^[_0-9A-Za-z]*$/.test(name)) return name;
  return Array.from(name.normalize('NFC'), (character) => {
    const plain = plainLetters[character] ?? character.normalize('NFKD').replace(/\p{M}/gu, '');
    if (/^[_0-9A-Za-z]+$/.test(plain)) return plain;
    if (/^[\0-\x7f\p{P}\p{Z}\p{C}]$/u.test(character)) return '_';
    return `u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
  }).join('');
}

/** A name of legal characters with a legal start: no digit, and no two underscores, which are reserved. Never empty. */
function startLegally(name: string): string {
  return name.replace(/^(?=\d|$)/, '_').replace(/^__+/, '_');
}

/** The name that `derive` makes of a name in PostgreSQL; if GraphQL forbids it, a legal one, derived from the legal characters. */
export function legalName(name: string, derive: (name: string) => string): string {
  const derived = derive(name);
  return isFreeName(derived) ? derived : startLegally(spell(derive(spell(name))));
}

/** The name of a type or root field whose plain name is taken: prefixed with its schema, `SouthPlace` or `south_place`. */
export function withSchema(name: string, schema: string, inflection: boolean): string {
  const prefix = inflection ? upperFirst(inflect(spell(schema))) : `${spell(schema)}_`;
  return startLegally(prefix + (inflection ? upperFirst(name) : name));
}

/** The first free one of `name`, `name2`, `name3` … */
export function numbered(name: string, isFree: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; !isFree(free); number += 1) free = `${name}${number}`;
  return free;
}

/**
 * Unique names for enum values, in order. Legal names stay as they are; others are changed: `odd-key` becomes `odd_key`, `2nd` becomes
 * `_2nd`, `null` becomes `_null`, followed by a number if that is taken.
 */
export function enumValueNames(names: readonly string[]): readonly string[] {
  const claimed = new Set(names.filter(isEnumValueName));
  return names.map((name) => {
    if (isEnumValueName(name)) return name;
    const legal = legalName(name, (own) => own.replace(/^(?=(?:true|false|null)$)/, '_'));
    const free = numbered(legal, (candidate) => !claimed.has(candidate));
    claimed.add(free);
    return free;
  });
}

/** The field name of a column: with inflection, `owner_id` → `ownerId`. */
export function columnFieldName(name: string, inflection: boolean): string {
  return inflection ? lowerFirst(inflect(name)) : name;
}

/** The name of an argument, which always starts in lower case. */
export function argumentNameOf(name: string, inflection: boolean): string {
  return lowerFirst(typeNameOf(name, inflection));
}

/** The field name of a function, without one leading underscore, which marks computed fields. */
export function routineFieldName(name: string, inflection: boolean): string {
  return argumentNameOf(name.startsWith('_') ? name.slice(1) : name, inflection);
}

/** The name of a to-one relation: from the only key column if it ends in `_id` (`Id` without inflection), otherwise from the target. */
export function toOneFieldName(targetTypeName: string, keyColumns: readonly string[], inflection: boolean): string {
  const suffix = inflection ? '_id' : 'Id';
  const [column, ...others] = keyColumns;
  const stem = others.length === 0 && column?.endsWith(suffix) ? column.slice(0, -suffix.length) : '';
  return lowerFirst(stem === '' ? targetTypeName : typeNameOf(stem, inflection));
}

export function toManyFieldName(targetTypeName: string): string {
  return `${lowerFirst(targetTypeName)}Collection`;
}

/** The name of a relation whose plain name a later one claims: followed by its key columns. */
export function qualifiedFieldName(fieldName: string, keyColumns: readonly string[], inflection: boolean): string {
  return `${fieldName}By${keyColumns.map((column) => upperFirst(columnFieldName(column, inflection))).join('')}`;
}

/** `public.account`, for messages: qualified, not quoted. */
export function qualifiedName(schema: string, name: string): string {
  return `${schema}.${name}`;
}

/** `public.total(integer)`, because functions may be overloaded. */
export function functionName({ types }: Pick<Catalog, 'types'>, { schema, name, arguments: args }: CatalogFunction): string {
  return `${qualifiedName(schema, name)}(${args.map(({ typeId }) => types.get(typeId)?.sql ?? '?').join(', ')})`;
}

export const tableKinds: Readonly<Record<RelationKind, TableKind>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
  c: 'composite type',
};

export interface PreferredName {
  readonly name: string;
  /** What gave it the name: its directive, its own name, or its own name, adapted. */
  readonly origin: 'directive' | 'own' | 'adapted';
}

/**
 * Makes the preferred name: that of the directive, or one derived from the name in PostgreSQL. With the addition `adaptedNames`, a derived
 * name that GraphQL forbids is replaced by a legal one, which gives way to all others. A name of a directive may be illegal.
 */
export function preferredName(name: string, directive: Directive, derive: (name: string) => string, additions: Additions): PreferredName {
  const directiveName = readName(directive, 'name');
  if (directiveName !== null) return { name: directiveName, origin: 'directive' };
  const derived = derive(name);
  if (isFreeName(derived) || !additions.has('adaptedNames')) return { name: derived, origin: 'own' };
  return { name: legalName(name, derive), origin: 'adapted' };
}

export function columnNameOf(
  { schema, additions }: Pick<TableTraits, 'schema' | 'additions'>,
  { name, comment }: CatalogColumn,
): PreferredName {
  return preferredName(name, readDirective(comment), (own) => columnFieldName(own, schema.inflection), additions);
}

/** The preferred name of a function's field: an overload's ends with its arguments, `findByIdName`. Its schema need not be exposed. */
export function routineNameOf(
  { schemas, settings, overloads }: Pick<BuildContext, 'schemas' | 'settings' | 'overloads'>,
  catalogFunction: CatalogFunction,
): PreferredName {
  const { inflection, additions } = schemas.get(catalogFunction.schemaId) ?? { inflection: false, additions: settings.additions };
  const by = additions.has('moreFunctions') ? overloads.get(catalogFunction.id)?.by : null;
  const suffix = by ? `By${by.map((name) => upperFirst(argumentNameOf(name, inflection))).join('')}` : '';
  const derive = (own: string) => `${routineFieldName(own, inflection)}${suffix}`;
  return preferredName(catalogFunction.name, readDirective(catalogFunction.comment), derive, additions);
}

export function whyAdapted(name: string, newName: string, remedy: string): string {
  return `"${name}" is not a valid GraphQL name, so it is called "${newName}"; ${remedy}`;
}

interface ClaimRank {
  readonly schemaId: number;
  readonly catalogName: string;
  readonly origin: PreferredName['origin'];
}

/**
 * Sorts items into the order in which they claim names: adapted names last, then by position of the schema in the setting, then names given
 * by a directive, then by name in PostgreSQL. Never by oid, which changes when a dump is restored. Items in no exposed schema come last.
 */
export function inClaimOrder<Item>(
  items: Iterable<Item>,
  schemas: ReadonlyMap<number, SchemaSettings>,
  rankOf: (item: Item) => ClaimRank,
): Item[] {
  const positions = new Map([...schemas.keys()].map((id, position) => [id, position]));
  const ranked = Array.from(items, (item) => ({ item, ...rankOf(item) }));
  const positionOf = ({ schemaId }: ClaimRank) => positions.get(schemaId) ?? positions.size;
  const isLater = (rank: ClaimRank, origin: ClaimRank['origin']) => Number(rank.origin === origin);
  ranked.sort(
    (one, other) =>
      isLater(one, 'adapted') - isLater(other, 'adapted') ||
      positionOf(one) - positionOf(other) ||
      isLater(one, 'own') - isLater(other, 'own') ||
      compareText(one.catalogName, other.catalogName),
  );
  return ranked.map(({ item }) => item);
}

/** Compares by code units, independent of the locale. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
