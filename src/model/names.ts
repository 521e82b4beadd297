/**
 * The names of GraphQL as they follow from those of PostgreSQL, letter for letter as in pg_graphql. A schema has inflection on or off;
 * a name that a comment directive gives is taken as it is.
 */

/** What GraphQL accepts as a name (https://spec.graphql.org/October2021/#Name). */
function isLegalName(name: string): boolean {
  return /^[_A-Za-z][_0-9A-Za-z]*$/.test(name);
}

/** Whether anything may have this name: two leading underscores belong to introspection. */
export function isFreeName(name: string): boolean {
  return isLegalName(name) && !name.startsWith('__');
}

/** Whether a value of an enum may have this name (https://spec.graphql.org/October2021/#EnumValue). */
export function isEnumValueName(name: string): boolean {
  return isFreeName(name) && !['true', 'false', 'null'].includes(name);
}

/** `account_holder` → `AccountHolder`: capitals at the start and after what is not a letter or digit, then no underscores. */
function inflect(name: string): string {
  // Most names have nothing between their letters and digits, and every model has thousands.
  if (/^[A-Za-z0-9]+$/.test(name)) return upperFirst(name);
  return name.replace(/(?<![\p{Alphabetic}\p{N}])./gsu, (character) => character.toUpperCase()).replaceAll('_', '');
}

/** The first letter in lower case. */
export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** The first letter in upper case. */
export function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The name of a type: of a table or an enum. */
export function typeNameOf(name: string, inflection: boolean): string {
  return inflection ? inflect(name) : name;
}

/** The name of a type or root field whose plain name is taken: with its schema in front, `SouthPlace` or `south_place`. */
export function withSchema(name: string, schema: string, inflection: boolean): string {
  const prefix = inflection ? upperFirst(inflect(schema)) : `${schema}_`;
  const legal = prefix.replace(/[^_0-9A-Za-z]/g, '_').replace(/^(?=\d)/, '_') + (inflection ? upperFirst(name) : name);
  return legal.replace(/^__+/, '_');
}

/** The first of `name`, `name2`, `name3` … that is free. */
export function numbered(name: string, isFree: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; !isFree(free); number += 1) free = `${name}${number}`;
  return free;
}

/**
 * The names of an enum's values, in the order of what they stand for: each its own, or where GraphQL cannot carry that, another: `odd-key` becomes `odd_key`,
 * `2nd` becomes `_2nd`, `null` becomes `_null`, with a number behind where that is taken.
 */
export function enumValueNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names.filter(isEnumValueName));
  return names.map((name) => {
    if (isEnumValueName(name)) return name;
    const legal = name.replace(/[^_0-9A-Za-z]/g, '_').replace(/^(?=\d|(?:true|false|null)$)/, '_');
    const free = numbered(legal.replace(/^__+/, '_'), (candidate) => !taken.has(candidate));
    taken.add(free);
    return free;
  });
}

/** The name of a column's field: `owner_id` → `ownerId`, or as it is. */
export function columnFieldName(name: string, inflection: boolean): string {
  return inflection ? lowerFirst(inflect(name)) : name;
}

/** The name of an argument, whose first letter is always in lower case. */
export function argumentNameOf(name: string, inflection: boolean): string {
  return lowerFirst(typeNameOf(name, inflection));
}

/** The name of a function's field. One leading underscore goes: it marks computed fields. */
export function routineFieldName(name: string, inflection: boolean): string {
  return argumentNameOf(name.startsWith('_') ? name.slice(1) : name, inflection);
}

/**
 * The name of the field that leads to one row: of the key's only column where that ends in `_id` (without inflection in `Id`),
 * otherwise of the target.
 */
export function toOneFieldName(targetTypeName: string, keyColumns: readonly string[], inflection: boolean): string {
  const suffix = inflection ? '_id' : 'Id';
  const [column, ...others] = keyColumns;
  const stem = others.length === 0 && column?.endsWith(suffix) ? column.slice(0, -suffix.length) : '';
  return lowerFirst(stem === '' ? targetTypeName : typeNameOf(stem, inflection));
}

/** The name of the field that leads to many rows. */
export function toManyFieldName(targetTypeName: string): string {
  return `${lowerFirst(targetTypeName)}Collection`;
}

/** What a relation is called whose name a later one claims: with the columns of its key. */
export function qualifiedFieldName(fieldName: string, keyColumns: readonly string[], inflection: boolean): string {
  return `${fieldName}By${keyColumns.map((column) => upperFirst(columnFieldName(column, inflection))).join('')}`;
}
