/** Parts of groups that are left out or renamed, because something in the schema already has the name. */
import { groupUnitNames } from '../model/graphql-names.ts';
import { clashesWithBuckets, clashesWithFraction } from '../model/groupable.ts';
import type { Table } from '../model/model.ts';
import { qualifiedName } from '../model/object-names.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

/**
 * A finding for each table whose groups lack number ranges or the percentiles of a field, and for each type with a name that groups use.
 */
export function findClashingGroups({ model }: Examination): Finding[] {
  const grouped = model.tables.filter(({ additions, aggregate }) => additions.has('groups') && aggregate);
  if (grouped.length === 0) return [];
  const gaveWay = (clashes: (table: Table) => boolean, problem: string): Finding[] =>
    grouped.filter(clashes).map(({ kind, schema, name }) => {
      const message = `${problem}; choose another name for the field with a comment directive`;
      return finding('addition-gave-way', kind, qualifiedName(schema, name), message);
    });
  const names: readonly string[] = Object.values(groupUnitNames);
  const message = (typeName: string) =>
    `its type is already named ${typeName}, so a type of groups gets a number; choose another name for it with a comment directive`;
  const tables = [...model.tables, ...model.rowTypes].filter(({ typeName }) => names.includes(typeName));
  const enums = model.enums.filter(({ typeName }) => names.includes(typeName));
  return [
    ...gaveWay(clashesWithBuckets, 'rows cannot be grouped by ranges of numbers, because it has a field "bucket"'),
    ...gaveWay(clashesWithFraction, 'groups cannot be chosen or ordered by percentiles of its field "fraction"'),
    ...tables.map(({ kind, schema, name, typeName }) => finding('addition-gave-way', kind, qualifiedName(schema, name), message(typeName))),
    ...enums.map(({ schema, name, typeName }) => finding('addition-gave-way', 'enum', qualifiedName(schema, name), message(typeName))),
  ];
}
