/** A small API, for the parts of the page that need no browser. */
import assert from 'node:assert/strict';
import { buildSchema, type GraphQLSchema, type OperationDefinitionNode, parse, validate } from 'graphql';

export const schema = buildSchema(`
  scalar Cursor
  enum OrderByDirection { AscNullsFirst AscNullsLast DescNullsFirst DescNullsLast }
  enum FilterIs { NULL NOT_NULL }
  input IntFilter { eq: Int in: [Int!] is: FilterIs }
  input StringFilter { ilike: String eq: String }
  input NoteFilter { id: IntFilter body: StringFilter and: [NoteFilter!] }
  input NoteOrderBy { id: OrderByDirection }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Author { nodeId: ID! name: String! noteCollection(first: Int): NoteConnection }
  type AuthorEdge { node: Author! }
  type AuthorConnection { edges: [AuthorEdge!]! pageInfo: PageInfo! }
  type Note { nodeId: ID! id: Int! body: String tags: [String] author: Author label(upper: Boolean): String }
  type NoteEdge { node: Note! }
  type NoteConnection { edges: [NoteEdge!]! pageInfo: PageInfo! }
  type Query {
    node(nodeId: ID!): Note
    authorCollection(first: Int): AuthorConnection
    noteCollection(first: Int, after: Cursor, filter: NoteFilter, orderBy: [NoteOrderBy!]): NoteConnection
  }
`);

export const emptyOf = (query: string): OperationDefinitionNode => parse(query).definitions[0] as OperationDefinitionNode;
export const isValid = (query: string, of: GraphQLSchema = schema): void => assert.deepEqual(validate(of, parse(query)), []);
