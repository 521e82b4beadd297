import { createFetchHandler } from 'rowgraph/fetch';
import { openGraph } from '../../lib/graph.js';

let handler;

/** The endpoint for clients, at /graphql: keys and tokens, limits, caching and all. */
async function graphql(request) {
  handler ??= openGraph().then((graph) => createFetchHandler(graph, { jwtSecret: process.env.JWT_SECRET }));
  return (await handler)(request);
}

export { graphql as GET, graphql as OPTIONS, graphql as POST };
