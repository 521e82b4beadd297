import { openGraph } from '../lib/graph.js';

/** Asked anew for each visitor. */
export const dynamic = 'force-dynamic';

const query = `{
  speciesCollection(first: 3, orderBy: [{ massG: DescNullsLast }]) {
    edges { node { nodeId name massG } }
  }
}`;

/** A page that asks the database in its own process: no HTTP, one round trip, as the role anon. */
export default async function Page() {
  const graph = await openGraph();
  const { data, errors } = await graph.execute({ query }, { role: 'anon' });
  if (errors) throw new Error(errors[0].message);
  return (
    <ol>
      {data.speciesCollection.edges.map(({ node }) => (
        <li key={node.nodeId}>
          {node.name}, {node.massG} g
        </li>
      ))}
    </ol>
  );
}
