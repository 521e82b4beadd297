import { gql } from '@apollo/client';
import { useMutation, useQuery } from '@apollo/client/react';

const rowFragment = gql`
  fragment Row on Sighting {
    nodeId
    birds
    species { nodeId name }
    site { nodeId name }
  }
`;

const sightingsQuery = gql`
  query Sightings($after: Cursor) {
    me: memberProfileCollection { edges { node { nodeId memberId } } }
    sightingCollection(first: 3, after: $after, orderBy: [{ seenAt: DescNullsLast }]) {
      edges { cursor node { ...Row } }
      pageInfo { hasNextPage endCursor hasPreviousPage startCursor }
    }
  }
  ${rowFragment}
`;

/** The newest sightings; new ones come first, and more of them on demand. */
export function Sightings() {
  const { data, error, fetchMore } = useQuery(sightingsQuery);
  if (error) return error.message;
  if (!data) return 'Loading …';
  const { edges, pageInfo } = data.sightingCollection;
  return (
    <main>
      <h1>Sightings</h1>
      <Report memberId={data.me.edges[0].node.memberId} />
      <ul>
        {edges.map(({ node }) => (
          <Row key={node.nodeId} sighting={node} />
        ))}
      </ul>
      <button type="button" disabled={!pageInfo.hasNextPage} onClick={() => fetchMore({ variables: { after: pageInfo.endCursor } })}>
        More
      </button>
    </main>
  );
}

function Row({ sighting: { nodeId, birds, species, site } }) {
  // Policies decide whose sightings may change: those of others stay as they are, and no record comes back.
  const [count] = useMutation(gql`
    mutation Count($nodeId: ID!, $birds: Int!) {
      updateSightingCollection(filter: { nodeId: { eq: $nodeId } }, set: { birds: $birds }) {
        records { nodeId birds }
      }
    }
  `);
  const [remove] = useMutation(
    gql`
      mutation Delete($nodeId: ID!) {
        deleteFromSightingCollection(filter: { nodeId: { eq: $nodeId } }) { records { nodeId } }
      }
    `,
    {
      update(cache, { data }) {
        for (const record of data.deleteFromSightingCollection.records) cache.evict({ id: cache.identify(record) });
      },
    },
  );
  const countOneMore = () => {
    const record = { __typename: 'Sighting', nodeId, birds: birds + 1 };
    const optimisticResponse = { updateSightingCollection: { __typename: 'SightingUpdateResponse', records: [record] } };
    return count({ variables: { nodeId, birds: birds + 1 }, optimisticResponse });
  };
  return (
    <li>
      {`${birds} × ${species.name}, ${site.name} `}
      <button type="button" onClick={countOneMore}>
        One more
      </button>
      <button type="button" onClick={() => remove({ variables: { nodeId } })}>
        Delete
      </button>
    </li>
  );
}

function Report({ memberId }) {
  const [insert, { loading }] = useMutation(
    gql`
      mutation Report($objects: [SightingInsertInput!]!) {
        insertIntoSightingCollection(objects: $objects) {
          edges(orderBy: [{ seenAt: DescNullsLast }]) { cursor node { ...Row } }
        }
      }
      ${rowFragment}
    `,
    {
      update(cache, { data }) {
        const { edges } = data.insertIntoSightingCollection;
        cache.updateQuery({ query: sightingsQuery }, (known) => ({
          ...known,
          sightingCollection: { ...known.sightingCollection, edges: [...edges, ...known.sightingCollection.edges] },
        }));
      },
    },
  );
  const report = () => insert({ variables: { objects: [{ memberId, speciesId: 1, siteId: 1, birds: 2 }] } });
  return (
    <button type="button" disabled={loading} onClick={report}>
      Report two
    </button>
  );
}
