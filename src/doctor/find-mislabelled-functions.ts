/** Functions that are labelled immutable although they may read the caller's claims. */
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './report.ts';

const mostTables = 3;

export function findMislabelledFunctions(examination: Examination): Finding[] {
  const tables = new Map(examination.catalog.tables.map((table) => [table.id, table]));
  return examination.catalog.mislabelled.map(({ signature, tableIds }) => {
    const names = tableIds.slice(0, mostTables).map((id) => examination.name(tables.get(id)!));
    if (tableIds.length > mostTables) names.push(`${tableIds.length - mostTables} more`);
    const users = names.length > 0 ? ` (used by ${inWords(names)})` : '';
    const message = `it is labelled immutable, but may read the claims of the caller${users}, so other programs on this database may give one user's result to another, and requests are planned anew each time; label it stable`;
    return finding('immutable-reads-claims', 'function', signature, message, { remedy: `alter function ${signature} stable;` });
  });
}
