/**
 * Relations and computed fields that filters, orders, inserts and updates leave out, because a column or a combinator already has their
 * name.
 */
import { qualifiedName } from '../model/object-names.ts';
import { filterableRows, orderableFields } from '../model/related-rows.ts';
import { writableRelations } from '../model/writable-relations.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

const inWords = new Intl.ListFormat('en-GB');

/** A finding for each table with such relations. */
export function findClashingRelations({ model }: Examination): Finding[] {
  return model.tables.flatMap((table) => {
    const rows = table.additions.has('relationFilters') ? filterableRows(table, model.nodeIdField).clashing : [];
    const unfiltered = rows.map(({ fieldName }) => fieldName);
    const unordered = table.additions.has('relationOrder') ? orderableFields(table).clashing : [];
    const unwritten = writableRelations(table).clashing;
    const names = [...new Set([...unfiltered, ...unordered, ...unwritten])];
    if (names.length === 0) return [];
    const places = (name: string): string =>
      inWords.format([
        ...(unfiltered.includes(name) ? ['filters'] : []),
        ...(unordered.includes(name) ? ['orders'] : []),
        ...(unwritten.includes(name) ? ['nested writes'] : []),
      ]);
    const described = (name: string): string =>
      `${table.relations.some(({ fieldName }) => fieldName === name) ? 'the relation' : 'the computed field'} ${name}`;
    const lost = [...Map.groupBy(names, places)].map(
      ([where, lacking]) => `${where} have no member for ${inWords.format(lacking.map(described))}`,
    );
    const cause = names.length === 1 ? 'a column or an operator already has that name' : 'columns or operators already have those names';
    const message = `${lost.join(', and ')}, because ${cause}; choose another name for the relation, function or column with a comment directive`;
    return [finding('addition-gave-way', table.kind, qualifiedName(table.schema, table.name), message)];
  });
}
