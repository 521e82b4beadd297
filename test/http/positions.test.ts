import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { answer, rawResponse, startTestServer } from './start-test-server.ts';

const [early, late] = ['7713161854613678706.1.0/3000148', '7713161854613678706.1.0/3000200'];
let isMutation = true;
const server = await startTestServer({
  maxBatch: 2,
  corsOrigins: ['https://app.example'],
  execute: async (request) => {
    const text = request.operationName === 'early' ? early : late;
    return isMutation ? { ...rawResponse(answer), isMutation, position: { text, lifetime: 13_500 } } : rawResponse(answer);
  },
});
after(() => server.close());

/** What the graph was told of positions by a request with these headers. */
async function told(headers: Readonly<Record<string, string>>): Promise<string | undefined> {
  isMutation = false;
  await (await server.post({ headers })).text();
  isMutation = true;
  return server.calls.at(-1)?.options.position;
}

test('the response to a mutation has its position in a header and in a cookie', async () => {
  const { headers } = await server.post();
  assert.equal(headers.get('rowgraph-position'), late);
  assert.equal(headers.get('set-cookie'), `rowgraph_position=${late}; Path=/; Max-Age=14; HttpOnly; SameSite=Strict`);
});

test('pages of other origins may read the header, and get no cookie', async () => {
  const { headers } = await server.post({ headers: { origin: 'https://app.example' } });
  assert.equal(headers.get('rowgraph-position'), late);
  assert.match(headers.get('access-control-expose-headers') ?? '', /rowgraph-position/);
  assert.equal(headers.get('set-cookie'), null);
});

test('a batch has the latest position of its mutations', async () => {
  for (const names of [
    ['early', 'late'],
    ['late', 'early'],
  ]) {
    const { headers } = await server.post({ body: names.map((operationName) => ({ query: 'mutation { a }', operationName })) });
    assert.equal(headers.get('rowgraph-position'), late);
  }
});

test('the graph is told the later of what header and cookie say', async () => {
  assert.equal(await told({}), undefined);
  assert.equal(await told({ 'rowgraph-position': early }), early);
  assert.equal(await told({ cookie: `theme=dark; rowgraph_position=${early}` }), early);
  assert.equal(await told({ cookie: `rowgraph_position=${late}`, 'rowgraph-position': early }), late);
  assert.equal(await told({ cookie: `rowgraph_position=${early}`, 'rowgraph-position': late }), late);
});

test('a cookie that is no position is ignored; a header is for the graph to refuse', async () => {
  for (const cookie of ['rowgraph_position=', 'rowgraph_position=nonsense', `x_rowgraph_position=${early}`, `rowgraph_position="${early}"`])
    assert.equal(await told({ cookie }), undefined, cookie);
  assert.equal(await told({ 'rowgraph-position': 'nonsense' }), 'nonsense');
});

test('without replicas there is neither header nor cookie', async () => {
  isMutation = false;
  const { headers } = await server.post();
  isMutation = true;
  assert.deepEqual([headers.get('rowgraph-position'), headers.get('set-cookie')], [null, null]);
});
