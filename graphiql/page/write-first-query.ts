/** A query to begin with, where there is no example: the first rows of the table that leads to the most others. In: the schema; out: its text. */
import type { GraphQLSchema } from 'graphql';
import { type ApiTable, readTables } from './read-tables.ts';

/** As many columns of each table are asked for. */
const maxColumns = 4;

/** The query; one that every schema answers where there are no tables. */
export function writeFirstQuery(schema: GraphQLSchema): string {
  const tables = readTables(schema).filter(({ columns }) => columns.length > 0);
  const [table] = tables.toSorted((one, other) => other.relations.length - one.relations.length);
  return table === undefined ? '# The API of this role has no tables.\nquery {\n  __typename\n}\n' : writeTableQuery(table, tables);
}

/** A query for the first rows of a table, with one of the tables that each row leads to. */
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

/** What tells rows apart for a person comes first: texts, then the rest. */
function columnsOf({ columns }: ApiTable): readonly string[] {
  const isText = ({ leaf, isList }: ApiTable['columns'][number]) => leaf === 'String' && !isList;
  return [...columns.filter(isText), ...columns.filter((column) => !isText(column))].slice(0, maxColumns).map(({ name }) => name);
}
