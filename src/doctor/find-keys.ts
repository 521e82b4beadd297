/** Foreign keys without an index, keys that child tables do not share, and keys that are inferred from the definitions of views. */
import { readDirective, readKeyColumns } from '../model/directives.ts';
import type { MeasuredColumn } from '../model/model.ts';
import type { InferredKey } from '../model/report.ts';
import { forms } from '../model/types/metrics.ts';
import { type Examination, inWords, nameOf } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';
import { distanceIndex, isServedBy, searchKey } from './search-index.ts';

export function findKeys(examination: Examination): Finding[] {
  return [
    ...findSlowKeys(examination),
    ...findSlowSearches(examination),
    ...findSlowDistances(examination),
    ...findInheritedKeys(examination),
    ...findInferredKeys(examination),
  ];
}

/** One finding each, independent of the role. */
function findSlowKeys(examination: Examination): Finding[] {
  const { catalog, safety } = examination;
  return catalog.foreignKeys.flatMap((key) => {
    const table = safety.unindexedKeys.has(key.id) && examination.catalogTable(key.tableId);
    if (!table) return [];
    const columns = key.columns.map((number) => table.columns.find((column) => column.number === number)?.name ?? '');
    const message = `no index begins with ${columns.join(', ')}, so following it from ${key.targetName} reads the whole table; create one`;
    const remedy = `create index on ${examination.tableSql(table)} (${columns.map((column) => examination.quote(column)).join(', ')});`;
    return finding('unindexed-foreign-key', 'relation', `${examination.name(table)}.${key.name}`, message, { remedy });
  });
}

/** One finding for each stored table whose rows can be searched without an index. */
function findSlowSearches(examination: Examination): Finding[] {
  const { catalog, safety } = examination;
  return catalog.tables.flatMap((catalogTable) => {
    const table = 'rpm'.includes(catalogTable.kind) ? examination.table(catalogTable.id) : undefined;
    if (!table?.search) return [];
    const key = searchKey(table.search, {
      quote: (name) => examination.quote(name),
      config: (id) => configName(catalog, id),
    });
    if (isServedBy(key, safety.searchIndexes.get(catalogTable.id) ?? [])) return [];
    const message = `no index finds ${key.words}, so each search reads the whole table; create one`;
    const remedy = `create index on ${examination.tableSql(catalogTable)} using gin (${key.sql});`;
    return [finding('unindexed-search', table.kind, nameOf(table), message, { remedy })];
  });
}

/** One finding for each column of a stored table that has distances and no index of them; one for all texts of a table. */
function findSlowDistances(examination: Examination): Finding[] {
  return examination.model.tables.flatMap((table) => {
    const catalogTable = examination.catalogTable(table.id);
    if (catalogTable === undefined || !'rpm'.includes(catalogTable.kind)) return [];
    const slow = table.columns.flatMap((column) =>
      column.selectable && column.measured && column.measured.indexed.size === 0 ? [{ column, measured: column.measured }] : [],
    );
    const create = ({ column, measured }: (typeof slow)[number]): string => {
      const index = distanceIndex(examination.quote(column.name), measured, forms[measured.form].metrics[0]!);
      return `create index on ${examination.tableSql(catalogTable)} using ${index};`;
    };
    const [texts, others] = [slow.filter(isText), slow.filter((each) => !isText(each))];
    const found = others.map((each) => {
      const name = `${nameOf(table)}.${each.column.name}`;
      const { isIndexable } = each.measured;
      const fix = isIndexable ? 'create one' : unindexable(each.measured);
      const message = `no index finds the nearest by it, so each nearest computes the distances of all rows; ${fix}`;
      return finding('unindexed-distance', 'column', name, message, { remedy: isIndexable ? create(each) : null });
    });
    if (texts.length === 0) return found;
    const names = inWords(texts.map(({ column }) => column.name));
    const message = `no index finds the texts that are nearest by ${names}; where nearest is used on one, create one, such as: ${create(texts[0]!)}`;
    const ofTexts = finding('unindexed-similarity', table.kind, nameOf(table), message);
    return [...found, ofTexts];
  });
}

function isText({ measured }: { readonly measured: MeasuredColumn }): boolean {
  return measured.form === 'text';
}

function unindexable({ dimensions }: MeasuredColumn): string {
  return dimensions === null
    ? 'none can be on vectors of any dimension, so declare that of the column'
    : `none can be on vectors of ${dimensions} dimensions, but of up to 2,000 of vector and 4,000 of halfvec`;
}

/** A configuration outside of pg_catalog as SQL reads it in a text. */
function configName({ searchConfigs }: Examination['catalog'], id: number): string | undefined {
  const found = searchConfigs.find((config) => config.id === id);
  return found && `${found.schema}.${found.name}`;
}

/** One finding for each exposed table with a key and children. The partitions of a table are not children: its key covers them. */
function findInheritedKeys(examination: Examination): Finding[] {
  const { catalog } = examination;
  return catalog.tables.flatMap((catalogTable) => {
    const table = catalogTable.hasChildren && examination.table(catalogTable.id);
    if (!table || table.primaryKey.length === 0) return [];
    const message =
      'its key does not hold for the tables that inherit from it, so several of its rows may have one nodeId: pages by cursor lose rows, and ' +
      'writes by key change all of them; give the children keys from its sequence and never reuse one, or expose a view of its own rows ' +
      `(select ... from only ${examination.tableSql(catalogTable)}) instead`;
    return [finding('key-not-inherited', table.kind, nameOf(table), message)];
  });
}

function findInferredKeys({ catalog, model }: Examination): Finding[] {
  const declared = new Set(catalog.tables.flatMap(({ id, comment }) => (readKeyColumns(readDirective(comment)) ? [id] : [])));
  const keys = Map.groupBy(model.inferredKeys, ({ tableId }) => tableId);
  return model.tables.flatMap((table) => {
    if (!catalog.views.has(table.id)) return [];
    const key = declared.has(table.id) ? [] : table.primaryKey.map(({ name }) => name);
    const relations = keys.get(table.id) ?? [];
    if (key.length === 0 && relations.length === 0) return [];
    return [finding('inferred-key', table.kind, nameOf(table), describe(key, relations))];
  });
}

function describe(key: readonly string[], relations: readonly InferredKey[]): string {
  const inferred = [
    ...(key.length === 0 ? [] : [`its key is ${inWords(key)}`]),
    ...relations.map(({ columns, target }) => `${inWords(columns)} ${columns.length > 1 ? 'refer' : 'refers'} to ${nameOf(target)}`),
  ];
  const directive = {
    ...(key.length > 0 && { primary_key_columns: key }),
    ...(relations.length > 0 && { foreign_keys: relations.map(foreignKeyOf) }),
  };
  return `inferred from its definition: ${inferred.join('; ')}; a comment directive overrides it, such as ${JSON.stringify(directive)}`;
}

function foreignKeyOf({ columns, target, targetColumns }: InferredKey) {
  return { local_columns: columns, foreign_schema: target.schema, foreign_table: target.name, foreign_columns: targetColumns };
}
