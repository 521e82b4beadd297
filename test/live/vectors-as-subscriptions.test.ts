/** The vectors of the additions: each query that has an answer is a subscription too, whose first answer is the same. */
import assert from 'node:assert/strict';
import { getOperationAST, Kind, type OperationDefinitionNode, parse, print, visit } from 'graphql';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import type { Endpoint, EndpointRequest, OpenEndpoint } from '../conformance/endpoint.ts';
import { readCases } from '../conformance/read-cases.ts';
import { testCases } from '../conformance/test-cases.ts';

/** The request with `subscription` instead of `query`; null if it is another operation, or asks for the schema. */
function asSubscription(request: EndpointRequest): EndpointRequest | null {
  const document = parse(request.query);
  const operation = getOperationAST(document, request.operationName);
  if (operation?.operation !== 'query' || /\b__(schema|type|typename)\b/.test(request.query)) return null;
  const changed = visit(document, {
    OperationDefinition: (node): OperationDefinitionNode | undefined =>
      node === operation ? ({ ...node, operation: 'subscription' } as OperationDefinitionNode) : undefined,
    NamedType: (node) => (node.name.value === 'Query' ? { ...node, name: { kind: Kind.NAME, value: 'Subscription' } } : undefined),
  });
  return { ...request, query: print(changed) };
}

async function firstAnswer(graph: Rowgraph, request: EndpointRequest, ...[role, claims]: [string, Readonly<Record<string, unknown>>]) {
  const answers = graph.subscribe(request, { role, claims });
  const { value } = await answers.next();
  await answers.return?.();
  return value;
}

const openBoth: OpenEndpoint = async (database, schemas, coercion): Promise<Endpoint> => {
  const graph = await createRowgraph({ database, schemas, coercion, poolSize: 2, live: 'poll' });
  return {
    send: async (request, role, claims) => {
      const answer = await graph.execute(request, { role, claims });
      const subscription = answer.errors === undefined ? asSubscription(request) : null;
      if (subscription !== null) assert.deepEqual(await firstAnswer(graph, subscription, role, claims), answer, subscription.query);
      return answer;
    },
    reload: () => graph.reload(),
    close: () => graph.close(),
  };
};

const cases = readCases('', new URL('../additions', import.meta.url).pathname);
testCases('additions as subscriptions', { kind: 'postgres', openEndpoint: openBoth, cases });
const ofVectors = cases.filter(({ file }) => file === 'vectors.yaml' || file === 'hybrid.yaml');
testCases('vectors and hybrid searches as subscriptions', { kind: 'pglite', openEndpoint: openBoth, cases: ofVectors });
