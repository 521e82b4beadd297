/** Requests of a multi-tenant app, in order: later ones see what earlier ones wrote. */

export interface AppRequest {
  readonly name: string;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly role?: string;
  readonly claims?: Record<string, unknown>;
  /** Whether it is about one tenant, so that one task on one shard answers it. */
  readonly ofTenant?: true;
  /** The code of the error that Citus answers with where PostgreSQL does not. */
  readonly refusal?: string;
}

const tenant = (name: string, query: string, rest: Partial<AppRequest> = {}): AppRequest => ({ name, query, ofTenant: true, ...rest });
const all = (name: string, query: string, rest: Partial<AppRequest> = {}): AppRequest => ({ name, query, ...rest });
const of4 = 'filter: {tenantId: {eq: 4}}';

const reads: readonly AppRequest[] = [
  tenant('a page', `{ taskCollection(${of4}, first: 5) { edges { node { id title status points due tags data } } } }`),
  tenant('a page with its info', `{ taskCollection(${of4}, first: 5) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } } }`),
  tenant('the end of a page', `{ taskCollection(${of4}, last: 4) { pageInfo { hasNextPage hasPreviousPage } edges { cursor node { id nodeId } } } }`),
  tenant('a tenant in a variable', 'query ($t: Int!) { projectCollection(filter: {tenantId: {eq: $t}}) { edges { node { id name budget createdAt } } } }', { variables: { t: 7 } }),
  tenant('order by a column', `{ taskCollection(${of4}, orderBy: [{points: DescNullsLast}, {due: AscNullsFirst}], first: 7) { edges { cursor node { id points due } } } }`),
  tenant('to-one', `{ taskCollection(${of4}, first: 6) { edges { node { id project { name } account { email name } } } } }`),
  tenant('to-many', `{ projectCollection(${of4}) { edges { node { name taskCollection(first: 3) { edges { node { id title } } pageInfo { hasNextPage } } } } } }`),
  tenant('three levels', `{ projectCollection(${of4}) { edges { node { name taskCollection(first: 3, orderBy: [{id: DescNullsLast}]) { edges { node { title commentCollection(first: 2) { edges { node { words account { email } } } } } } } } } } }`),
  tenant('many-to-many', `{ taskCollection(${of4}, first: 6) { edges { node { title taskLabelCollection { edges { node { label { name } } } } } } } }`),
  tenant('an aggregate of related rows', `{ projectCollection(${of4}) { edges { node { name taskCollection { totalCount aggregate { count sum { points } max { due } } } } } } }`),
  tenant('to a reference table', '{ tenantCollection(filter: {id: {eq: 4}}) { edges { node { name country { name } } } } }'),
  tenant('from a tenant, three levels', '{ tenantCollection(filter: {id: {eq: 4}}) { edges { node { name projectCollection { edges { node { name taskCollection(first: 2) { edges { node { title } } } } } } accountCollection { edges { node { email } } } } } } }'),
  tenant('lookup', '{ taskByPk(tenantId: 4, id: 4003) { title status } }'),
  tenant('lookup with relations', '{ taskByPk(tenantId: 4, id: 4003) { title project { name account { email } } commentCollection { edges { node { words } } } } }'),
  tenant('lookup by a unique key', '{ accountByTenantIdAndEmail(tenantId: 4, email: "u2@t4.example") { name projectCollection { edges { node { name } } } } }'),
  tenant('node', 'query ($n: ID!) { node(nodeId: $n) { ... on Task { title project { name } } } }', { variables: { n: Buffer.from('["shop", "task", 4, 4003]').toString('base64') } }),
  tenant('filters', `{ taskCollection(filter: {tenantId: {eq: 4}, status: {in: [open, done]}, points: {gte: 2}, title: {like: "Task %"}, or: [{due: {gt: "2024-03-05"}}, {assigneeId: {is: NULL}}]}) { edges { node { id } } } }`),
  tenant('a filter of arrays and JSON', `{ taskCollection(filter: {tenantId: {eq: 4}, tags: {contains: ["a1"]}, not: {data: {contains: "{\\"n\\": 3}"}}}) { edges { node { id tags } } } }`),
  tenant('a filter by a to-one relation', '{ taskCollection(filter: {tenantId: {eq: 4}, project: {name: {like: "Project 1%"}}}) { edges { node { id } } } }'),
  tenant('a filter by related rows', '{ projectCollection(filter: {tenantId: {eq: 4}, taskCollection: {some: {points: {gt: 7}}}}) { edges { node { id } } } }'),
  tenant('a filter by the number of related rows', '{ taskCollection(filter: {tenantId: {eq: 4}, commentCollection: {count: {gte: 3}}}) { edges { node { id } } } }'),
  tenant('order by a related row', `{ taskCollection(${of4}, orderBy: [{project: {name: AscNullsLast}}, {id: AscNullsLast}], first: 8) { edges { cursor node { id } } } }`),
  tenant('order by a count', `{ taskCollection(${of4}, orderBy: [{commentCollectionAggregate: {count: DescNullsLast}}], first: 8) { edges { node { id } } } }`),
  tenant('totals', `{ taskCollection(${of4}) { totalCount aggregate { count sum { points } avg { points } min { due } } } }`),
  tenant('groups', `{ taskCollection(${of4}) { groups(by: [{status: VALUE}]) { key { status } count sum { points } } } }`),
  tenant('groups by a relation', `{ taskCollection(${of4}) { groups(by: [{project: {name: VALUE}}]) { key { project { name } } count } } }`),
  tenant('distinct', `{ taskCollection(${of4}, distinctOn: [status], orderBy: [{status: AscNullsLast}, {points: DescNullsLast}]) { edges { node { status points id } } } }`),
  tenant('offset', `{ taskCollection(${of4}, first: 3, offset: 4) { edges { node { id } } pageInfo { hasPreviousPage } } }`),
  tenant('after a cursor', 'query ($after: Cursor) { taskCollection(filter: {tenantId: {eq: 4}}, first: 3, after: $after) { pageInfo { hasNextPage hasPreviousPage endCursor } edges { node { id project { name } } } } }', { variables: { after: Buffer.from('[4, 4005]').toString('base64') } }),
  tenant('after a cursor with mixed directions', 'query ($after: Cursor) { taskCollection(filter: {tenantId: {eq: 4}}, orderBy: [{points: DescNullsLast}], first: 3, after: $after) { edges { cursor node { id points } } } }', { variables: { after: Buffer.from('[5, 4, 4005]').toString('base64') } }),
  tenant('aliases and fragments', `query { a: taskCollection(${of4}, first: 2) { edges { node { ...t } } } } fragment t on Task { one: title two: id p: project { n: name } }`),
  tenant('two root fields', `{ taskCollection(${of4}, first: 2) { edges { node { id } } } projectCollection(${of4}, first: 2) { edges { node { id } } } }`),
  tenant('comments in time', `{ commentCollection(${of4}, orderBy: [{writtenAt: DescNullsLast}], first: 4) { edges { node { writtenAt words task { title } } } } }`),
];

const wide: readonly AppRequest[] = [
  all('a page over all shards', '{ taskCollection(first: 5, orderBy: [{id: AscNullsLast}]) { edges { node { id title } } pageInfo { hasNextPage endCursor } } }'),
  all('a page over all shards with relations', '{ projectCollection(first: 6) { edges { node { name account { email } taskCollection(first: 2) { edges { node { title } } } } } } }'),
  all('three levels over all shards', '{ tenantCollection(first: 4) { edges { node { name projectCollection(first: 2) { edges { node { name taskCollection(first: 2) { edges { node { title account { email } } } } } } } } } } }'),
  all('a relation to a reference table over all shards', '{ tenantCollection(first: 5, orderBy: [{name: AscNullsLast}]) { edges { node { name country { name } } } } }'),
  all('totals over all shards', '{ taskCollection { totalCount aggregate { count sum { points } } } }'),
  all('groups over all shards', '{ taskCollection { groups(by: [{status: VALUE}]) { key { status } count } } }'),
  all('aggregates of related rows over all shards', '{ tenantCollection(first: 3) { edges { node { name accountCollection { edges { node { email } } } } } } }'),
  all('a filter by related rows over all shards', '{ projectCollection(filter: {taskCollection: {some: {points: {gt: 7}}}}, first: 5) { edges { node { tenantId id } } } }'),
  all('a page of a reference table', '{ countryCollection { edges { node { code name } } } }'),
  all('from a reference table to a distributed one', '{ countryCollection(first: 2) { edges { node { code tenantCollection(first: 3) { edges { node { name } } } } } } }', { refusal: 'DATABASE_ERROR' }),
  all('a page of a local table', '{ noticeCollection(first: 3) { edges { node { id words } } } }'),
  all('a local and a distributed table', '{ noticeCollection(first: 1) { edges { node { words } } } tenantCollection(first: 1) { edges { node { name } } } }'),
  all('introspection', '{ __type(name: "Task") { fields { name } } }'),
  all('scalar functions', '{ twice(number: 21) pointsOf(tenant: 4) }'),
  all('a function in PL/pgSQL', '{ tasksOf(tenant: 4, first: 3) { edges { node { id title } } } }'),
  all('a function in SQL', '{ sqlTasks(tenant: 4, first: 3) { edges { node { id } } } }', { refusal: 'DATABASE_ERROR' }),
  all('row level security', '{ secretCollection { edges { node { tenantId id words } } } }', { claims: { tenant: 4, name: `O'Neil \\ "é" 😀 $1 \u0001` } }),
  tenant('row level security of a tenant', '{ secretCollection(filter: {tenantId: {eq: 4}}) { edges { node { tenantId id words } } } }', { claims: { tenant: 4 } }),
  all('row level security without a claim', '{ secretCollection { edges { node { id } } } }'),
  all('a role without LOGIN', '{ taskByPk(tenantId: 4, id: 4003) { title } }', { role: 'locked', refusal: 'DATABASE_ERROR' }),
];

const writes: readonly AppRequest[] = [
  all('insert one', 'mutation { insertIntoProjectCollection(objects: [{tenantId: 4, id: 900, name: "It\'s new", budget: "12.50"}]) { affectedCount records { tenantId id name budget createdAt } } }'),
  all('insert with a generated key', 'mutation { insertIntoLabelCollection(objects: [{tenantId: 4, name: "New"}]) { affectedCount records { id name } } }'),
  all('insert one and read relations', 'mutation { insertIntoTaskCollection(objects: [{tenantId: 4, id: 9001, projectId: 900, assigneeId: 401, title: "First", tags: ["x"], data: "{\\"a\\": [1]}"}]) { records { title status project { name taskCollection { edges { node { id } } } } account { email } } } }'),
  all('insert many of two tenants', 'mutation { insertIntoProjectCollection(objects: [{tenantId: 7, id: 901, name: "A"}, {tenantId: 4, id: 902, name: "B"}, {tenantId: 7, id: 903, name: "C"}, {tenantId: 5, id: 904, name: "D"}]) { affectedCount records { tenantId id name } } }'),
  all('insert many and read relations', 'mutation { insertIntoTaskCollection(objects: [{tenantId: 7, id: 9101, projectId: 901, title: "P"}, {tenantId: 4, id: 9102, projectId: 902, title: "Q"}, {tenantId: 7, id: 9103, projectId: 903, title: "R"}]) { affectedCount records { id title project { name } } } }'),
  all('upsert one', 'mutation { insertIntoAccountCollection(objects: [{tenantId: 4, id: 401, email: "u1@t4.example", name: "Changed"}], onConflict: {constraint: account_pkey, updateColumns: [name]}) { affectedCount records { id email name } } }'),
  all('upsert many', 'mutation { insertIntoAccountCollection(objects: [{tenantId: 4, id: 402, email: "u2@t4.example", name: "Two"}, {tenantId: 4, id: 499, email: "new@t4.example", name: "New"}], onConflict: {constraint: account_pkey, updateColumns: [name]}) { affectedCount records { id name } } }'),
  all('insert unless it exists', 'mutation { insertIntoAccountCollection(objects: [{tenantId: 4, id: 401, email: "x"}], onConflict: {constraint: account_pkey}) { affectedCount records { id } } }'),
  all('update one', 'mutation { updateTaskCollection(set: {status: done, points: 8}, filter: {tenantId: {eq: 4}, id: {eq: 4001}}) { affectedCount records { id status points } } }'),
  all('update one and read relations', 'mutation { updateTaskCollection(set: {title: "Renamed"}, filter: {tenantId: {eq: 4}, id: {eq: 4002}}) { records { title project { name taskCollection(first: 2) { edges { node { title } } } } } } }'),
  all('update many of a tenant', 'mutation { updateTaskCollection(set: {points: 3}, filter: {tenantId: {eq: 5}, status: {eq: open}}, atMost: 50) { affectedCount } }'),
  all('increment', 'mutation { updateTaskCollection(set: {}, increment: {points: 2}, filter: {tenantId: {eq: 4}, id: {eq: 4003}}) { records { points } } }'),
  all('update many over all shards', 'mutation { updateTaskCollection(set: {due: "2030-01-01"}, filter: {title: {eq: "Task 3"}}, atMost: 20) { affectedCount } }'),
  all('update too many', 'mutation { updateTaskCollection(set: {points: 1}, filter: {tenantId: {eq: 4}}, atMost: 2) { affectedCount } }'),
  all('delete one', 'mutation { deleteFromCommentCollection(filter: {tenantId: {eq: 4}, id: {eq: 4001}}) { affectedCount records { id words } } }'),
  all('delete with relations', 'mutation { deleteFromCommentCollection(filter: {tenantId: {eq: 4}, id: {eq: 4002}}) { affectedCount records { words task { title } } } }'),
  all('delete many', 'mutation { deleteFromCommentCollection(filter: {tenantId: {eq: 5}, id: {lte: 5004}}, atMost: 10) { affectedCount } }'),
  all('delete too many', 'mutation { deleteFromCommentCollection(filter: {tenantId: {eq: 6}}, atMost: 3) { affectedCount } }'),
  all('nested insert', 'mutation { insertIntoProjectCollection(objects: [{tenantId: 4, id: 950, name: "Nest", taskCollection: {create: [{id: 9501, title: "One", commentCollection: {create: [{id: 9601, authorId: 401, words: "Hi"}]}}, {id: 9502, title: "Two"}]}}]) { affectedCount records { name taskCollection { edges { node { title commentCollection { edges { node { words } } } } } } } } }'),
  all('nested insert of a parent', 'mutation { insertIntoTaskCollection(objects: [{id: 9701, title: "Child", project: {create: {tenantId: 4, id: 960, name: "Parent"}}}]) { affectedCount records { tenantId title project { name } } } }'),
  all('nested insert of two tenants', 'mutation { insertIntoProjectCollection(objects: [{tenantId: 7, id: 970, name: "N7", taskCollection: {create: [{id: 9801, title: "T7"}]}}, {tenantId: 4, id: 971, name: "N4", taskCollection: {create: [{id: 9802, title: "T4"}]}}]) { records { name taskCollection { edges { node { title } } } } } }'),
  all('two mutations', 'mutation { a: updateTaskCollection(set: {points: 5}, filter: {tenantId: {eq: 4}, id: {eq: 4004}}) { records { points } } b: updateTaskCollection(set: {points: 6}, filter: {tenantId: {eq: 4}, id: {eq: 4004}}) { records { points } } }'),
  all('a function that writes', 'mutation { renameProject(tenant: 4, project: 900, newName: "By function") { name account { email } } }'),
  all('insert into a reference table', 'mutation { insertIntoCountryCollection(objects: [{code: "C9", name: "Nine"}]) { records { code name } } }'),
  all('insert into a local table', 'mutation { insertIntoNoticeCollection(objects: [{id: 9, words: "Nine"}]) { records { id words } } }'),
  all('a change of the distribution key', 'mutation { updateTaskCollection(set: {tenantId: 5}, filter: {tenantId: {eq: 4}, id: {eq: 4005}}) { affectedCount } }', { refusal: 'DATABASE_ERROR' }),
];

const failures: readonly AppRequest[] = [
  all('a unique constraint', 'mutation { insertIntoAccountCollection(objects: [{tenantId: 4, id: 777, email: "u3@t4.example"}]) { affectedCount } }'),
  all('a primary key', 'mutation { insertIntoProjectCollection(objects: [{tenantId: 4, id: 401, name: "Again"}]) { affectedCount } }'),
  all('a foreign key', 'mutation { insertIntoTaskCollection(objects: [{tenantId: 4, id: 7777, projectId: 1, title: "Lost"}]) { affectedCount } }'),
  all('a check', 'mutation { insertIntoTaskCollection(objects: [{tenantId: 4, id: 7778, projectId: 401, title: "Minus", points: -1}]) { affectedCount } }'),
  all('a missing value', 'mutation { insertIntoTaskCollection(objects: [{tenantId: 4, id: 7779, projectId: 401}]) { affectedCount } }'),
  all('a policy', 'mutation { insertIntoSecretCollection(objects: [{tenantId: 5, id: 50, words: "No"}]) { affectedCount } }', { claims: { tenant: 4 } }),
  all('an insert that a policy allows', 'mutation { insertIntoSecretCollection(objects: [{tenantId: 4, id: 50, words: "Yes"}]) { records { words } } }', { claims: { tenant: 4 } }),
];

export const requests: readonly AppRequest[] = [...reads, ...wide, ...writes, ...failures];
