/**
 * Full-text search: the argument and the filter `search`, the order by `searchRank`, and what rows say of the search that found them. Names
 * that a table needs for something else are left to it.
 *
 *     input SearchInput { text: String!  mode: SearchMode  config: SearchConfig }
 */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLFloat,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { Model, Table } from '../../model/model.ts';
import { snippetColumns } from '../../model/tables/column-uses.ts';
import { bindField, bindInput } from '../bindings.ts';
import type { FieldConfig } from '../lazy/lazy-object-type.ts';
import type { TableType, TableTypes, TypeRegistry } from '../lazy/type-registry.ts';
import { asChoice, orderByDirection } from '../value-types.ts';

const modes = {
  WEBSEARCH: 'As web search engines read it: "exact words", or, -without',
  PLAIN: 'All words, in any order',
  PHRASE: 'All words, one after the other',
  PREFIX: 'All words, or words that begin with them, for searches while someone types',
  SIMILAR: 'Texts with a similar part, in spite of typos, by their trigrams',
};

/** Defines the types that the searches of all tables share. */
export function defineSearch(
  registry: TypeRegistry,
  { input, mode, config }: NonNullable<Model['searchTypes']>,
  { hasTrigrams, searchConfigs }: Pick<Model, 'hasTrigrams' | 'searchConfigs'>,
): void {
  const modeType = new GraphQLEnumType({
    name: mode,
    description: 'How the text of a search is read',
    values: Object.fromEntries(
      Object.entries(modes)
        .filter(([each]) => hasTrigrams || each !== 'SIMILAR')
        .map(([name, description]) => [name, { description }]),
    ),
    ...asChoice,
  });
  registry.define(mode, () => modeType);
  const configType = new GraphQLEnumType({
    name: config,
    description: 'The text search configurations of the database: what words are, and which are the same',
    values: Object.fromEntries([...searchConfigs.keys()].map((name) => [name, {}])),
    ...asChoice,
  });
  registry.define(config, () => configType);
  const inputType = new GraphQLInputObjectType({
    name: input,
    description: 'A full-text search. Without any word that is searched for, it finds nothing',
    fields: {
      text: { type: new GraphQLNonNull(GraphQLString), description: 'The words to find', ...bindInput('search', { kind: 'text' }) },
      mode: { type: modeType, description: 'How to read the text. Default: WEBSEARCH', ...bindInput('search', { kind: 'mode' }) },
      config: {
        type: configType,
        description: 'The configuration by which the text is read. Default: that of the table',
        ...bindInput('search', { kind: 'config', configs: searchConfigs }),
      },
    },
  });
  registry.define(input, () => inputType);
  registry.searchInput = inputType;
}

function inputOf({ searchInput }: TypeRegistry, { isSearchable }: Table): GraphQLInputObjectType | null {
  return isSearchable ? searchInput : null;
}

export function searchArgument(registry: TypeRegistry, table: Table, others: GraphQLFieldConfigArgumentMap): GraphQLFieldConfigArgumentMap {
  const input = inputOf(registry, table);
  if (input === null || Object.hasOwn(others, 'search')) return {};
  const description = 'Finds records by the words in them. Null finds all';
  return { search: { type: input, description, ...bindInput('collection', { kind: 'search' }) } };
}

/** The member of a filter. A column is often called `search`, too, so there is another name. */
export function searchFilter(registry: TypeRegistry, table: Table, others: GraphQLInputFieldConfigMap): GraphQLInputFieldConfigMap {
  const input = inputOf(registry, table);
  const name = ['search', 'searchText'].find((each) => !Object.hasOwn(others, each));
  if (input === null || name === undefined) return {};
  return { [name]: { type: input, description: 'Has the words of a search', ...bindInput('filter', { kind: 'search' }) } };
}

const rankName = 'searchRank';

export function searchOrder({ search }: Table, others: GraphQLInputFieldConfigMap): GraphQLInputFieldConfigMap {
  if (search === null || Object.hasOwn(others, rankName)) return {};
  const description = 'How well records match the argument `search`, without which this orders nothing';
  return { [rankName]: { type: orderByDirection, description, ...bindInput('order', { kind: 'search rank' }) } };
}

/** The columns whose snippets rows can show. */
export const searchColumnTypes = {
  SearchColumn: {
    has: ({ search }) => search !== null && search.shown.length > 0,
    build: (table, _registry, name) =>
      new GraphQLEnumType({
        name,
        description: `The columns of \`${table.typeName}\` that have snippets`,
        values: Object.fromEntries([...snippetColumns(table).keys()].map((value) => [value, {}])),
        ...asChoice,
      }),
  } satisfies TableType,
} as const satisfies Partial<TableTypes>;

export function searchFields(registry: TypeRegistry, table: Table): ReadonlyMap<string, () => FieldConfig> {
  const fields = new Map<string, () => FieldConfig>();
  if (table.search === null) return fields;
  fields.set(rankName, () => ({
    type: GraphQLFloat,
    description: 'How well the record matches the argument `search` of its collection; null without one',
    ...bindField('row', { kind: 'search rank' }),
  }));
  if (registry.hasOf(table, 'SearchColumn')) fields.set('searchSnippet', () => snippetField(registry, table));
  return fields;
}

function snippetField(registry: TypeRegistry, table: Table): FieldConfig {
  const columns = snippetColumns(table);
  return {
    type: GraphQLString,
    description:
      'Where the column has the words of the argument `search`, as HTML: what the column has is escaped, the marks are not. Null without a search',
    args: {
      column: {
        type: new GraphQLNonNull(registry.enumOf(table, 'SearchColumn')),
        description: 'The column to show',
        ...bindInput('snippet', { kind: 'columns', columns }),
      },
      start: {
        type: GraphQLString,
        description: 'What precedes a word that was found. Default: <b>',
        ...bindInput('snippet', { kind: 'start' }),
      },
      stop: { type: GraphQLString, description: 'What follows it. Default: </b>', ...bindInput('snippet', { kind: 'stop' }) },
      words: { type: GraphQLInt, description: 'The most words to show. Default: 35', ...bindInput('snippet', { kind: 'words' }) },
    },
    ...bindField('row', { kind: 'search snippet' }),
  };
}
