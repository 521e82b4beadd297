/** The worst documents that we know of, by what they aim at. Each is made by its size, over the tables of `abuseSchema`. */
import { createHash } from 'node:crypto';
import type { GraphQLRequest } from '../../src/engine/request.ts';

/** A chain of four tables; pages of `account` and `blog` may hold 1000 rows, those of the others 30. */
export const abuseSchema = `
  create table account (id int primary key, email text not null, name text, age int, tags int[], created_at timestamptz);
  create table blog (id int primary key, owner_id int references account, name text, description text);
  create table post (id int primary key, blog_id int references blog, title text, body text);
  create table comment (id int primary key, post_id int references post, author_id int references account, body text);
  create index on blog (owner_id); create index on post (blog_id); create index on comment (post_id); create index on comment (author_id);
  comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
  comment on table account is '@graphql({"max_rows": 1000, "totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on table blog is '@graphql({"max_rows": 1000})';
`;

/** Makes PostgreSQL believe that the tables have a million rows each, so that pages of them are full. */
export const fullPages = "update pg_class set reltuples = 1000000 where relname in ('account', 'blog', 'post', 'comment');";

const times = (count: number, make: (index: number) => string, separator = ' '): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);

/** A row of accounts with this selection. */
const ofAccounts = (selection: string): string => `{ accountCollection { edges { node { ${selection} } } } }`;

/** Levels of to-one relations, `comment` to `account` by turns of to-many relations around. */
function nested(levels: number, pages: string): string {
  const steps = ['blogCollection', 'owner'];
  let inner = 'id';
  for (let level = levels - 1; level >= 0; level -= 1) {
    const step = steps[level % 2]!;
    inner = step === 'owner' ? `owner { ${inner} }` : `blogCollection${pages} { edges { node { ${inner} } } }`;
  }
  return ofAccounts(inner);
}

/** Fragments that each spread the next twice under two aliases: 2^count selections. */
export function doublingFragments(count: number): GraphQLRequest {
  const fragments = times(count, (index) => {
    const spread = index + 1 < count ? `...F${index + 1}` : 'id';
    return `fragment F${index} on Account { x: comment(first: 1) { y: edges { node { author { ${spread} } } } } z: comment(first: 1) { edges { node { author { ${spread} } } } } }`;
  });
  return { query: `${ofAccounts('...F0')} ${fragments.replaceAll('comment(', 'commentCollection(')}` };
}

/** The same over aliases of the root: cheap to write, as each level is one field deep. */
export function doublingRoots(count: number): GraphQLRequest {
  const fragments = times(count, (index) => {
    const inner = index + 1 < count ? `{ ...F${index + 1} }` : '{ name }';
    return `fragment F${index} on __Type { a: ofType ${inner} b: ofType ${inner} }`;
  });
  return { query: `{ __type(name: "Account") { ...F0 } } ${fragments}` };
}

export const equalFields = (count: number): GraphQLRequest => ({ query: ofAccounts(times(count, () => 'id')) });
export const equalTypeNames = (count: number): GraphQLRequest => ({ query: `{ ${times(count, () => '__typename')} }` });
export const aliasedColumns = (count: number): GraphQLRequest => ({ query: ofAccounts(times(count, (index) => `a${index}: email`)) });
export const aliasedRelations = (count: number): GraphQLRequest => ({
  query: ofAccounts(
    times(count, (index) => `a${index}: blogCollection { edges { cursor node { id name } } pageInfo { hasNextPage endCursor } }`),
  ),
});
export const rootFields = (count: number): GraphQLRequest => ({
  query: `{ ${times(count, (index) => `a${index}: accountCollection { edges { node { id } } }`)} }`,
});
export const mutationFields = (count: number): GraphQLRequest => ({
  query: `mutation { ${times(count, (index) => `a${index}: deleteFromCommentCollection(filter: { id: { eq: ${-index} } }) { affectedCount }`)} }`,
});
/** A mutation whose response consists of aliases, which PostgreSQL cannot compress. */
export const longAliases = (count: number, length: number): GraphQLRequest => {
  const aliasOf = (index: number): string => {
    const noise = createHash('shake256', { outputLength: length }).update(String(index)).digest('hex');
    return `a${index}_${noise}`.slice(0, length);
  };
  const fields = times(count, (index) => `${aliasOf(index)}: deleteFromCommentCollection(filter: { id: { eq: -1 } }) { affectedCount }`);
  return { query: `mutation { ${fields} }` };
};
export const nestedRelations = (levels: number, pages = '(first: 1)'): GraphQLRequest => ({ query: nested(levels, pages) });
export const pageProduct = (size: number, levels: number): GraphQLRequest => ({ query: nested(levels, `(first: ${size})`) });
export const pageProductByVariable = (size: number, levels: number): GraphQLRequest => ({
  query: `query ($size: Int) ${nested(levels, '(first: $size)')}`,
  variables: { size },
});

/** Fragments in a chain, each spread by all behind it. */
export const chainedFragments = (count: number): GraphQLRequest => ({
  query: `${ofAccounts('...F0')} ${times(count, (index) => `fragment F${index} on Account { id ${index + 1 < count ? `...F${index + 1}` : ''} }`)}`,
});
export const wideFragments = (count: number): GraphQLRequest => ({
  query: `${ofAccounts(times(count, (index) => `...F${index}`))} ${times(count, (index) => `fragment F${index} on Account { id name }`)}`,
});

/** Fields of one response key whose selections have to be merged, pair by pair in the plain way of checking. */
export const overlappingFields = (count: number, inner = 10): GraphQLRequest => ({
  query: ofAccounts(times(count, () => `owner: blogCollection { edges { node { ${times(inner, (index) => `b${index}: name`)} } } }`)),
});
export const overlappingInlineFragments = (count: number): GraphQLRequest => ({
  query: ofAccounts(times(count, () => '... on Account { blogCollection { edges { node { id ... on Blog { name } } } } }')),
});

export const manyOperations = (count: number): GraphQLRequest => ({
  query: times(count, (index) => `query Q${index} { accountCollection { edges { node { id } } } }`),
  operationName: 'Q0',
});
export const manyVariables = (count: number): GraphQLRequest => ({
  query: `query (${times(count, (index) => `$v${index}: Int`)}) ${ofAccounts(`blogCollection(first: 1, filter: { and: [${times(count, (index) => `{ id: { eq: $v${index} } }`)}] }) { edges { node { id } } }`)}`,
  variables: Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index])),
});

const filtered = (filter: string): string => `{ accountCollection(filter: ${filter}) { edges { node { id } } } }`;
const accountFilter = 'query ($filter: AccountFilter) { accountCollection(filter: $filter) { edges { node { id } } } }';

export const orMembers = (count: number): GraphQLRequest => ({
  query: filtered(`{ or: [${times(count, (index) => `{ id: { eq: ${index} } }`)}] }`),
});
export const orMembersByVariable = (count: number): GraphQLRequest => ({
  query: accountFilter,
  variables: { filter: { or: Array.from({ length: count }, (_, index) => ({ id: { eq: index } })) } },
});
export const nestedNots = (levels: number): GraphQLRequest => ({
  query: filtered(`${'{ not: '.repeat(levels)}{ id: { eq: 1 } }${' }'.repeat(levels)}`),
});
export const nestedNotsByVariable = (levels: number): GraphQLRequest => ({
  query: accountFilter,
  variables: JSON.parse(`{"filter":${'{"not":'.repeat(levels)}{"id":{"eq":1}}${'}'.repeat(levels)}}`),
});
/** Relations inside each other, in expressions: PostgreSQL would plan each of them twice. */
export const nestedEvery = (levels: number): GraphQLRequest => ({
  query: filtered(`${'{ blogCollection: { every: { owner: '.repeat(levels)}{ id: { eq: 1 } }${' } } }'.repeat(levels)}`),
});
export const nestedAlternatives = (levels: number): GraphQLRequest => ({
  query: filtered(
    `${'{ or: [{ id: { eq: 2 } }, { blogCollection: { some: { or: [{ id: { eq: 3 } }, { owner: '.repeat(levels)}{ id: { eq: 1 } }${' }] } } }] }'.repeat(levels)}`,
  ),
});
export const nestedLists = (levels: number): GraphQLRequest => ({
  query: filtered(`{ id: { in: ${'['.repeat(levels)}1${']'.repeat(levels)} } }`),
});
export const nestedListsByVariable = (levels: number): GraphQLRequest => ({
  query: accountFilter,
  variables: JSON.parse(`{"filter":{"id":{"in":${'['.repeat(levels)}1${']'.repeat(levels)}}}}`),
});
export const inList = (count: number): GraphQLRequest => ({
  query: filtered(`{ id: { in: [${times(count, (index) => String(index), ',')}] } }`),
});
export const inListByVariable = (count: number): GraphQLRequest => ({
  query: accountFilter,
  variables: { filter: { id: { in: Array.from({ length: count }, (_, index) => index) } } },
});
/** The default of a variable that lenient coercion reads as three types. */
export const mismatchedDefault = (count: number): GraphQLRequest => ({
  query: `query ($x: [nothing] = [${times(count, () => '"1"')}]) ${filtered('{ or: [{ id: { in: $x } }, { email: { in: $x } }, { createdAt: { in: $x } }] }')}`,
});
/** One list that is bound in many places. */
export const listUsedOften = (count: number, uses: number): GraphQLRequest => ({
  query: `query ($ids: [Int!]) { ${times(uses, (index) => `a${index}: accountCollection(filter: { id: { in: $ids } }) { edges { node { id } } }`)} }`,
  variables: { ids: Array.from({ length: count }, (_, index) => index) },
});
export const textUsedOften = (length: number, uses: number): GraphQLRequest => ({
  query: `query ($text: String) { ${times(uses, (index) => `a${index}: accountCollection(filter: { email: { eq: $text } }) { edges { node { id } } }`)} }`,
  variables: { text: 'x'.repeat(length) },
});
/** The same in a mutation, where each root field is a statement of its own. */
export const textInsertedOften = (length: number, uses: number): GraphQLRequest => ({
  query: `mutation ($text: String) { ${times(uses, (index) => `a${index}: updateCommentCollection(set: { body: $text }, filter: { id: { eq: ${-index} } }) { affectedCount }`)} }`,
  variables: { text: 'x'.repeat(length) },
});

/** Rows with a key that is there already, so that nothing is left of them. */
const insertRow = (index: number): Record<string, unknown> => ({ id: index + 1_000_000, postId: -1, body: `text ${index}` });
export const insertedRows = (count: number): GraphQLRequest => ({
  query: 'mutation ($objects: [CommentInsertInput!]!) { insertIntoCommentCollection(objects: $objects) { affectedCount } }',
  variables: { objects: Array.from({ length: count }, (_, index) => insertRow(index)) },
});
export const insertedRowsInDocument = (count: number): GraphQLRequest => ({
  query: `mutation { insertIntoCommentCollection(objects: [${times(count, (index) => `{ id: ${index + 1_000_000}, postId: -1, body: "text" }`)}]) { affectedCount } }`,
});

const insertAccounts = (objects: readonly object[]): GraphQLRequest => ({
  query: 'mutation ($objects: [AccountInsertInput!]!) { insertIntoAccountCollection(objects: $objects) { affectedCount } }',
  variables: { objects },
});
const accountRow = (index: number, blogCollection: object): object => ({
  id: index + 1_000_000,
  email: `${index}@example.org`,
  blogCollection,
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const arrayOf = <Item>(count: number, make: (index: number) => Item): Item[] => Array.from({ length: count }, (_, index) => make(index));
/** Rows with others below them, two of which have the same key. */
export const nestedRows = (parents: number, children: number): GraphQLRequest =>
  insertAccounts(
    arrayOf(parents, (parent) => {
      const create = arrayOf(children, (child) => ({ id: 1_000_000 + ((parent * children + child) >> 1), name: 'n', description: 'd' }));
      return accountRow(parent, { create });
    }),
  );
export const connectedRows = (count: number): GraphQLRequest => ({
  query: 'mutation ($set: AccountUpdateInput!) { updateAccountCollection(set: $set, filter: { id: { eq: -1 } }) { affectedCount } }',
  variables: { set: { blogCollection: { connect: arrayOf(count, (id) => ({ id: -1 - id })) } } },
});
export const upsertedRows = (count: number): GraphQLRequest => {
  const onConflict = { constraint: 'blog_pkey', updateColumns: ['name'] };
  const connectOrCreate = arrayOf(count, (id) => ({ create: { id: id + 1_000_000, name: 'n' }, onConflict }));
  return insertAccounts([accountRow(0, { connectOrCreate }), accountRow(0, {})]);
};

/** One filter, order or list of columns in a variable, which each of the root fields uses. */
const usedByAll = (type: string, value: unknown, count: number, field: string, kind = 'query'): GraphQLRequest => ({
  query: `${kind} ($v: ${type}) { ${times(count, (index) => `a${index}: ${field}`)} }`,
  variables: { v: value },
});
const emptyFilter = (index: number): object => [{}, { id: {} }, { blogCollection: {} }][index % 3]!;
export const emptyFiltersUsedOften = (filters: number, uses: number): GraphQLRequest =>
  usedByAll('[AccountFilter!]', arrayOf(filters, emptyFilter), uses, 'accountCollection(filter: { or: $v }) { edges { cursor } }');
export const emptyFiltersInAFilter = (filters: number, uses: number): GraphQLRequest => ({
  query: `query ($v: [AccountFilter!]) { accountCollection(filter: { and: [${times(uses, () => '{ or: $v }')}] }) { edges { cursor } } }`,
  variables: { v: arrayOf(filters, emptyFilter) },
});
/** Objects without lists, each with the next inside. */
export const nestedFiltersUsedOften = (levels: number, uses: number): GraphQLRequest => ({
  query: `query ($v: AccountFilter!) { accountCollection(filter: { and: [${times(uses, () => '$v')}] }) { edges { cursor } } }`,
  variables: { v: JSON.parse(`${'{"id":{},"age":{},"name":{},"email":{},"not":'.repeat(levels)}{}${'}'.repeat(levels)}`) },
});
/** A long filter in the document, in a fragment that is spread so often. */
export function filtersInFragments(filters: number, levels: number, spreads: number): GraphQLRequest {
  const filter = `${'{ id: {} name: {} description: {} owner: { id: {} name: {} } not: '.repeat(levels)}{}${'}'.repeat(levels)}`;
  const relation = `blogCollection(filter: { and: [${times(filters, () => filter)}] }) { edges { cursor } }`;
  const spread = times(spreads, (index) => `a${index}: accountCollection { edges { node { ...F } } }`);
  return { query: `{ ${spread} } fragment F on Account { ${relation} }` };
}
export const conditionsUsedOften = (conditions: number, uses: number): GraphQLRequest =>
  usedByAll(
    '[AccountGroupHaving!]',
    arrayOf(conditions, () => ({})),
    uses,
    'accountCollection { groups(by: [{ age: VALUE }], having: { or: $v }) { count } }',
  );

const orderOf = (keys: number): object[] => arrayOf(keys, (index) => ({ [['id', 'email', 'name', 'age'][index % 4]!]: 'AscNullsLast' }));
export const ordersUsedOften = (keys: number, uses: number): GraphQLRequest =>
  usedByAll('[AccountOrderBy!]', orderOf(keys), uses, 'accountCollection(first: 1, orderBy: $v) { edges { cursor } }');
export const ordersOfMutations = (keys: number, uses: number): GraphQLRequest => {
  const update = 'updateAccountCollection(set: { age: 1 }, filter: { id: { lt: 0 } }) { edges(orderBy: $v) { cursor } }';
  return usedByAll('[AccountOrderBy!]', orderOf(keys), uses, update, 'mutation');
};
export const ordersOfGroups = (keys: number, uses: number): GraphQLRequest => {
  const order = arrayOf(keys, (index) => (index % 2 ? { count: 'AscNullsLast' } : { max: { id: 'DescNullsFirst' } }));
  return usedByAll(
    '[AccountGroupOrder!]',
    order,
    uses,
    'accountCollection { groups(by: [{ age: VALUE }], orderBy: $v, first: 1) { count } }',
  );
};
export const ordersInDocument = (keys: number): GraphQLRequest => ({
  query: `{ accountCollection(orderBy: [${times(keys, (index) => `{ ${['id', 'email'][index % 2]!}: AscNullsLast }`)}]) { edges { cursor } } }`,
});
/** A page after a row in which all the keys that may be null are. */
export const ordersAfterNulls = (keys: number): GraphQLRequest => ({
  query: 'query ($v: [AccountOrderBy!], $after: Cursor) { accountCollection(orderBy: $v, after: $after) { edges { cursor } } }',
  variables: {
    v: arrayOf(keys, (index) => ({ [['name', 'age'][index % 2]!]: index % 4 < 2 ? 'AscNullsFirst' : 'DescNullsFirst' })),
    after: base64(JSON.stringify([...arrayOf(keys, () => null), 1])),
  },
});
export const updatedColumnsUsedOften = (columns: number, uses: number): GraphQLRequest =>
  usedByAll(
    '[BlogUpdateColumn!]!',
    arrayOf(columns, (index) => ['name', 'description'][index % 2]),
    uses,
    'insertIntoBlogCollection(objects: [{ id: 1 }], onConflict: { constraint: blog_pkey, updateColumns: $v }) { affectedCount }',
    'mutation',
  );
export const connectedRowsUsedOften = (keys: number, uses: number): GraphQLRequest =>
  usedByAll(
    '[BlogKey!]',
    arrayOf(keys, (id) => ({ id })),
    uses,
    'updateAccountCollection(set: { blogCollection: { connect: $v } }, filter: { id: { eq: -1 } }) { affectedCount }',
    'mutation',
  );

const lookup = (json: string): GraphQLRequest => ({
  query: 'query ($id: ID!) { node(nodeId: $id) { nodeId } }',
  variables: { id: base64(json) },
});
export const valuesInNodeId = (count: number): GraphQLRequest => lookup(`["public", "account"${',1'.repeat(count)}]`);
export const nestedInNodeId = (levels: number): GraphQLRequest =>
  lookup(`["public", "account", ${'['.repeat(levels)}${']'.repeat(levels)}]`);
export const filteredNodeId = (levels: number): GraphQLRequest => ({
  query: 'query ($id: ID) { accountCollection(filter: { nodeId: { eq: $id } }) { edges { cursor } } }',
  variables: { id: base64(`["public", "account", ${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}]`) },
});
export const valuesInCursor = (count: number): GraphQLRequest => ({
  query: 'query ($after: Cursor) { accountCollection(after: $after) { edges { cursor } } }',
  variables: { after: base64(`[1${', 1'.repeat(count)}]`) },
});
/** So many cursors of so many values, each as long as a cursor may be. */
export const valuesInCursors = (count: number, values: number): GraphQLRequest => ({
  query: `query (${times(count, (index) => `$c${index}: Cursor`)}) { ${times(count, (index) => `a${index}: accountCollection(after: $c${index}) { edges { cursor } }`)} }`,
  variables: Object.fromEntries(arrayOf(count, (index) => [`c${index}`, base64(`[1${',1'.repeat(values)}]`)])),
});
export const nodeIdInDocument = (levels: number): GraphQLRequest => ({
  query: `{ node(nodeId: "${base64(`["public", "account", ${'['.repeat(levels)}${']'.repeat(levels)}]`)}") { nodeId } }`,
});
/** So many nodeIds of so many values: each is small. */
export const connectedNodeIds = (count: number, values: number): GraphQLRequest => ({
  query: 'mutation ($set: AccountUpdateInput!) { updateAccountCollection(set: $set, filter: { id: { eq: -1 } }) { affectedCount } }',
  variables: {
    set: { blogCollection: { connect: arrayOf(count, () => ({ nodeId: base64(`["public", "blog"${',1'.repeat(values)}]`) })) } },
  },
});

export const blockString = (lines: number): GraphQLRequest => ({ query: filtered(`{ email: { eq: """${'\n'.repeat(lines)}""" } }`) });
export const longString = (length: number): GraphQLRequest => ({ query: filtered(`{ email: { eq: "${'x'.repeat(length)}" } }`) });
export const longComment = (lines: number): GraphQLRequest => ({ query: `{ __typename }${'#\n'.repeat(lines)}` });
export const longName = (length: number): GraphQLRequest => ({ query: `{ ${'x'.repeat(length)} }` });
export const longOperationName = (length: number): GraphQLRequest => ({ query: '{ __typename }', operationName: 'x'.repeat(length) });
export const unknownFields = (count: number): GraphQLRequest => ({ query: ofAccounts(times(count, (index) => `unknown${index}`)) });
export const unclosed = (count: number): GraphQLRequest => ({ query: '{a'.repeat(count) });
export const directives = (count: number): GraphQLRequest => ({ query: `{ __typename ${times(count, () => '@include(if: true)')} }` });
export const unknownDirectives = (count: number): GraphQLRequest => ({ query: `{ __typename ${times(count, (index) => `@d${index}`)} }` });
export const typeDefinitions = (count: number): GraphQLRequest => ({ query: times(count, (index) => `type T${index} { a: Int }`) });

/** A chain of types, each with all of its fields. */
export function introspectionBomb(levels: number, aliases = 1): GraphQLRequest {
  let inner = 'name';
  for (let level = 0; level < levels; level += 1)
    inner = times(aliases, (index) => `a${index}: fields { type { ${inner} possibleTypes { name } } }`);
  return { query: `{ __schema { types { ${inner} } } }` };
}
export const introspectionAliases = (count: number): GraphQLRequest => ({
  query: `{ __schema { ${times(count, (index) => `a${index}: types { name description fields { name description args { name } } }`)} } }`,
});

export const introspectionRoots = (count: number): GraphQLRequest => ({
  query: `{ ${times(count, (index) => `a${index}: __schema { types { name description fields { name description args { name } } } }`)} }`,
});

/** Relations of ten fields each, of few rows. */
export const fewRelations = (count: number): GraphQLRequest => ({
  query: `{ accountCollection(first: 1) { edges { node { ${times(count, (index) => `a${index}: blogCollection(first: 1) { edges { cursor node { id name description } } pageInfo { hasNextPage endCursor } }`)} } } } }`,
});
/** Root fields of single rows, with so many fields each. */
export const fewRootFields = (count: number, fields: number): GraphQLRequest => ({
  query: `{ ${times(count, (index) => `a${index}: accountCollection(first: 1) { edges { node { ${times(fields, (field) => ['id', 'email', 'name', 'age'][field % 4]!)} } } }`)} }`,
});
/** Fragments that share: the document is short, and expands to some thousand fields. */
export const spreadFragments = (spreads: number): GraphQLRequest => ({
  query: `{ ${times(spreads, (index) => `a${index}: accountCollection(first: 1) { ...P }`)} }
    fragment P on AccountConnection { edges { node { ${times(8, (index) => `b${index}: blogCollection(first: 1) { ...B }`)} } } }
    fragment B on BlogConnection { edges { node { ${times(9, () => 'id name description')} ${times(9, () => 'nodeId __typename')} } } }`,
});
/** A relation under one key, again and again. */
export const equalRelations = (count: number): GraphQLRequest => ({
  query: ofAccounts(
    times(count, () => 'blogCollection(first: 1, filter: { id: { eq: 1 } }) { edges { node { id name owner { id email } } } }'),
  ),
});
/** Operations that all spread one large fragment. */
export const sharedByOperations = (count: number): GraphQLRequest => ({
  query: `${times(count, (index) => `query Q${index} { ...F }`)} fragment F on Query { accountCollection { edges { node { ${times(4_900, () => 'id')} } } } }`,
  operationName: 'Q0',
});
/** Fragments that spread each other in a circle, with line breaks between them. */
export const cycle = (count: number, lines: number): GraphQLRequest => ({
  query: `${ofAccounts('...F0')}${'\n'.repeat(lines)}${times(count, (index) => `fragment F${index} on Account { id ...F${(index + 1) % count} }`)}`,
});
export const insertedAccounts = (count: number): GraphQLRequest => ({
  query: 'mutation ($objects: [AccountInsertInput!]!) { insertIntoAccountCollection(objects: $objects) { affectedCount } }',
  variables: {
    objects: Array.from({ length: count }, (_, id) => ({
      id: 1,
      email: `${id}@example.org`,
      name: 'n',
      age: id,
      tags: [],
      createdAt: null,
    })),
  },
});
