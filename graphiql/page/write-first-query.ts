/** Writes a first query if there is no example: the first rows of the table with the most relations. */
import type { GraphQLSchema } from 'graphql';
import { type ApiTable, readTables, writeColumn } from './read-tables.ts';

/** How many columns of each table to select. */
const maxColumns = 4;

/** The query; without tables, one that works on every schema. */
export function writeFirstQuery(schema: GraphQLSchema): string {
  const tables = readTables(schema).filter(({ columns }) => columns.length > 0);
  const [table] = tables.toSorted((one, other) => other.relations.length - one.relations.length);
  return table === undefined ? '# The API of this role has no tables.\nquery {\n  __typename\n}\n' : writeTableQuery(table, tables);
}

/** A query for the first rows of a table, with one of its relations. */
export function writeTableQuery(table: ApiTable, tables: readonly ApiTable[]): string {
  const related = table.relations.flatMap(({ field, target, isMany }) => {
    const found = tables.find(({ type }) => type === target);
    return isMany || found === undefined || found === table ? [] : [{ field, columns: columnsOf(found) }];
  })[0];
  const lines = [
    `query ${table.type} {`,
    `  ${table.collection}(first: 3) {`,
    '    edges {',
    '      node {',
    ...columnsOf(table).map((name) => `        ${name}`),
    ...(related === undefined ? [] : [`        ${related.field} {`, ...related.columns.map((name) => `          ${name}`), '        }']),
    '      }',
    '    }',
    '  }',
    '}',
  ];
  return `${lines.join('\n')}\n`;
}

/** The columns that best identify rows to a person come first: text, then the rest. */
function columnsOf({ columns }: ApiTable): readonly string[] {
  const isText = ({ leaf, isList }: ApiTable['columns'][number]) => leaf === 'String' && !isList;
  return [...columns.filter(isText), ...columns.filter((column) => !isText(column))].slice(0, maxColumns).map(writeColumn);
}
