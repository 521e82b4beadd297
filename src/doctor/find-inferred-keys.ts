/** Views whose keys and relations are inferred from their definitions, with the equivalent directive. */
import { readDirective, readKeyColumns } from '../model/directives.ts';
import type { InferredKey, Table } from '../model/model.ts';
import { qualifiedName } from '../model/object-names.ts';
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** A finding for each view with an inferred key or relation. */
export function findInferredKeys({ catalog, model }: Examination): Finding[] {
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

function nameOf({ schema, name }: Table): string {
  return qualifiedName(schema, name);
}
