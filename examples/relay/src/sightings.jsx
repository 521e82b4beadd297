import { graphql, useFragment, useLazyLoadQuery, useMutation, usePaginationFragment } from 'react-relay';

/** The newest sightings; new ones come first, and more of them on demand. */
export function Sightings() {
  const query = useLazyLoadQuery(
    graphql`
      query sightingsQuery {
        me: memberProfileCollection { edges { node { memberId } } }
        ...sightings_list
      }
    `,
    {},
  );
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment(
    graphql`
      fragment sightings_list on Query
      @argumentDefinitions(count: { type: "Int", defaultValue: 3 }, cursor: { type: "Cursor" })
      @refetchable(queryName: "sightingsNextQuery") {
        sightingCollection(first: $count, after: $cursor, orderBy: [{ seenAt: DescNullsLast }])
        @connection(key: "list_sightingCollection", filters: []) {
          __id
          edges { node { nodeId ...sightings_row } }
        }
      }
    `,
    query,
  );
  const { __id: connection, edges } = data.sightingCollection;
  return (
    <main>
      <h1>Sightings</h1>
      <Report memberId={query.me.edges[0].node.memberId} connections={[connection]} />
      <ul>
        {edges.map(({ node }) => (
          <Row key={node.nodeId} sighting={node} connections={[connection]} />
        ))}
      </ul>
      <button type="button" disabled={!hasNext || isLoadingNext} onClick={() => loadNext(3)}>
        More
      </button>
    </main>
  );
}

function Row({ sighting, connections }) {
  const { nodeId, birds, species, site } = useFragment(
    graphql`
      fragment sightings_row on Sighting {
        nodeId
        birds
        species { name }
        site { name }
      }
    `,
    sighting,
  );
  // Policies decide whose sightings may change: those of others stay as they are, and no record comes back.
  const [count] = useMutation(graphql`
    mutation sightingsCountMutation($nodeId: ID!, $birds: Int!) {
      updateSightingCollection(filter: { nodeId: { eq: $nodeId } }, set: { birds: $birds }) {
        records { nodeId birds }
      }
    }
  `);
  const [remove] = useMutation(graphql`
    mutation sightingsDeleteMutation($nodeId: ID!, $connections: [ID!]!) {
      deleteFromSightingCollection(filter: { nodeId: { eq: $nodeId } }) {
        records { nodeId @deleteEdge(connections: $connections) }
      }
    }
  `);
  const countOneMore = () => {
    const variables = { nodeId, birds: birds + 1 };
    count({ variables, optimisticResponse: { updateSightingCollection: { records: [variables] } } });
  };
  return (
    <li>
      {`${birds} × ${species.name}, ${site.name} `}
      <button type="button" onClick={countOneMore}>
        One more
      </button>
      <button type="button" onClick={() => remove({ variables: { nodeId, connections } })}>
        Delete
      </button>
    </li>
  );
}

function Report({ memberId, connections }) {
  const [insert, isInFlight] = useMutation(graphql`
    mutation sightingsReportMutation($objects: [SightingInsertInput!]!, $connections: [ID!]!) {
      insertIntoSightingCollection(objects: $objects) {
        edges(orderBy: [{ seenAt: DescNullsLast }]) @prependEdge(connections: $connections) {
          node { nodeId ...sightings_row }
        }
      }
    }
  `);
  const report = () => insert({ variables: { connections, objects: [{ memberId, speciesId: 1, siteId: 1, birds: 2 }] } });
  return (
    <button type="button" disabled={isInFlight} onClick={report}>
      Report two
    </button>
  );
}
