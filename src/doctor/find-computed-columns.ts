/** Columns of views that are in inputs, as in pg_graphql, although PostgreSQL refuses values for them because the view computes them. */
import { qualifiedName } from '../model/object-names.ts';
import { type Examination, inWords } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** One finding for each such column that the role could otherwise write. */
export function findComputedColumns({ model, facts }: Examination): Finding[] {
  return facts.computedColumns.flatMap(({ viewId, name, inserts, updates }) => {
    const view = model.tables.find(({ id }) => id === viewId);
    const column = view?.columns.find((candidate) => candidate.name === name);
    if (!view || !column) return [];
    const verbs = [
      ...(inserts && view.insertable && column.insertable ? ['insert'] : []),
      ...(updates && view.updatable && column.updatable ? ['update'] : []),
    ];
    if (verbs.length === 0) return [];
    const message = `every ${inWords(verbs)} with a value for it fails because the view computes it; leave it out, or write it in an INSTEAD OF trigger on the view`;
    return [finding('read-only-column', 'column', qualifiedName(qualifiedName(view.schema, view.name), name), message)];
  });
}
