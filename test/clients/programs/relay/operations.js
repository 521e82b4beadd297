/** What relay.mjs compiles: pages in both directions, pages inside a row, a row by itself, and mutations that keep the pages right. */
import { graphql } from 'react-relay';

export const operations = [
  graphql`
    query operationsForwardQuery { ...operationsForward_query }
  `,
  graphql`
    fragment operationsForward_query on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "Cursor" })
    @refetchable(queryName: "operationsForwardPaginationQuery") {
      noteCollection(first: $count, after: $cursor, orderBy: [{ body: AscNullsLast }])
      @connection(key: "forward_noteCollection", filters: []) {
        __id
        edges { node { id body ...operationsNote_note ...operationsTags_note } }
      }
    }
  `,
  graphql`
    query operationsBackwardQuery { ...operationsBackward_query }
  `,
  graphql`
    fragment operationsBackward_query on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 2 }, cursor: { type: "Cursor" })
    @refetchable(queryName: "operationsBackwardPaginationQuery") {
      noteCollection(last: $count, before: $cursor, orderBy: [{ body: AscNullsLast }])
      @connection(key: "backward_noteCollection", filters: []) {
        edges { node { id body } }
      }
    }
  `,
  graphql`
    fragment operationsNote_note on Note @refetchable(queryName: "operationsNoteQuery") {
      body
      idColumn
      author { id name }
    }
  `,
  graphql`
    fragment operationsTags_note on Note
    @argumentDefinitions(count: { type: "Int", defaultValue: 1 }, cursor: { type: "Cursor" })
    @refetchable(queryName: "operationsTagsQuery") {
      tagCollection(first: $count, after: $cursor) @connection(key: "tags_tagCollection") {
        edges { node { id name noteId } }
      }
    }
  `,
  graphql`
    mutation operationsAppendMutation($objects: [NoteInsertInput!]!, $connections: [ID!]!) {
      insertIntoNoteCollection(objects: $objects) {
        edges(orderBy: [{ body: AscNullsLast }]) @appendEdge(connections: $connections) { node { id body } }
      }
    }
  `,
  graphql`
    mutation operationsPrependMutation($objects: [NoteInsertInput!]!, $connections: [ID!]!) {
      insertIntoNoteCollection(objects: $objects) {
        records @prependNode(connections: $connections, edgeTypeName: "NoteEdge") { id body }
      }
    }
  `,
  graphql`
    mutation operationsPrependEdgeMutation($objects: [NoteInsertInput!]!, $connections: [ID!]!) {
      insertIntoNoteCollection(objects: $objects) {
        edges @prependEdge(connections: $connections) { node { id body } }
      }
    }
  `,
  graphql`
    mutation operationsUpdateMutation($row: ID!, $set: NoteUpdateInput!) {
      updateNoteCollection(filter: { id: { eq: $row } }, set: $set) { records { id body } }
    }
  `,
  graphql`
    mutation operationsDeleteMutation($row: ID!) {
      deleteFromNoteCollection(filter: { id: { eq: $row } }) { records { id @deleteRecord } }
    }
  `,
  graphql`
    mutation operationsRemoveMutation($row: ID!, $connections: [ID!]!) {
      deleteFromNoteCollection(filter: { id: { eq: $row } }) { records { id @deleteEdge(connections: $connections) } }
    }
  `,
  graphql`
    subscription operationsNotesSubscription {
      noteCollection(first: 2, orderBy: [{ body: AscNullsLast }]) { edges { node { id body } } }
    }
  `,
];
