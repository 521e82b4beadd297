/**
 * Relations and computed fields that filters, orders, inserts and updates leave out, because a column or a combinator already has their
 * name.
 */
import { qualifiedName } from '../model/object-names.ts';
import { filterableRows, orderableFields } from '../model/related-rows.ts';
import { writableRelations } from '../model/writable-relations.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** A finding for each table with such relations. */
export function findClashingRelations({ model }: Examination): Finding[] {
  return model.tables.flatMap((table) => {
    const rows = table.additions.has('relationFilters') ? filterableRows(table, model.nodeIdField).clashing : [];
    const unfiltered = rows.map(({ fieldName }) => fieldName);
    const unordered = table.additions.has('relationOrder') ? orderableFields(table).clashing : [];
    const unwritten = writableRelations(table).clashing;
    const lost = [
      ...(unfiltered.length > 0 ? [`filtered by ${unfiltered.join(', ')}`] : []),
      ...(unordered.length > 0 ? [`ordered by ${unordered.join(', ')}`] : []),
      ...(unwritten.length > 0 ? [`written with ${unwritten.join(', ')}`] : []),
    ];
    if (lost.length === 0) return [];
    const message = `rows cannot be ${lost.join(' or ')}, because a column or an operator already has that name; choose another name for the relation, function or column with a comment directive`;
    return [finding('addition-gave-way', table.kind, qualifiedName(table.schema, table.name), message)];
  });
}
