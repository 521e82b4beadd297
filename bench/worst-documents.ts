/**
 * `npm run bench:documents`: the longest block of the event loop by the worst documents that the default limits allow, and by those that
 * they reject. Writes bench/worst-documents.md. Each document is measured in rounds, each with a fresh graph, so that it is never in a
 * cache.
 */
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createRowgraph, type GraphQLRequest } from '../src/index.ts';
import { abuseSchema, fullPages } from '../test/abuse/worst-documents.ts';
import { startTestDatabases } from '../test/support/test-databases.ts';
import { type AbusiveDocument, abusiveDocuments, measureLongestBlock } from './abuse/documents.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, write: { type: 'boolean', default: false } },
});
const rounds = Number(values.rounds);

/** The measurements of one document. */
interface Row {
  readonly name: string;
  readonly size: number;
  /** Of all rounds, the minimum and the median. */
  readonly blocks: readonly number[];
  readonly milliseconds: number;
  readonly answer: string;
}

const databases = await startTestDatabases();
const rows: Row[] = [];
try {
  const database = await databases.create(abuseSchema + fullPages);
  for (const document of abusiveDocuments.filter(({ name }) => values.only === undefined || name.includes(values.only))) {
    const row = await measureDocument(document, database.url);
    rows.push(row);
    console.log(toLine(row));
  }
} finally {
  await databases.close();
}
if (values.write) await writeFile(new URL('worst-documents.md', import.meta.url), toPage(rows));

async function measureDocument({ name, request }: AbusiveDocument, url: string): Promise<Row> {
  const measured = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measureOnce(request, url));
  const blocks = measured.map(({ block }) => block).sort((one, other) => one - other);
  const size = JSON.stringify(request).length;
  return { name, size, blocks, milliseconds: Math.min(...measured.map(({ milliseconds }) => milliseconds)), answer: measured[0]!.answer };
}

async function measureOnce(request: GraphQLRequest, url: string) {
  const graph = await createRowgraph({ database: url, poolSize: 2 });
  try {
    // By then V8 has compiled the code for other documents, the schema is loaded, and a connection is open.
    for (let index = 0; index < 50; index += 1) await graph.execute(warmUp(index), { role: 'anon' });
    const { result, longestBlock, milliseconds } = await measureLongestBlock(() => graph.executeRaw(request, { role: 'anon' }));
    const answer = result.errorCode ?? `${Math.ceil(result.length / 1024)} KB`;
    return { block: longestBlock, milliseconds, answer };
  } finally {
    await graph.close();
  }
}

function warmUp(index: number): GraphQLRequest {
  return {
    query: `{ a${index}: accountCollection(filter: { or: [{ id: { eq: ${index} } }] }) { edges { node { id email blogCollection { edges { cursor } } } } } }`,
  };
}

function toLine({ name, size, blocks, milliseconds, answer }: Row): string {
  const [least, middle] = [blocks[0]!, blocks[Math.floor(blocks.length / 2)]!];
  const sizeText = size < 1024 ? `${size} B` : `${Math.round(size / 1024)} KB`;
  return `| ${name} | ${sizeText} | ${least.toFixed(0)} | ${middle.toFixed(0)} | ${milliseconds.toFixed(0)} | ${answer} |`;
}

function toPage(measured: readonly Row[]): string {
  const passed = measured.filter(({ answer }) => answer.endsWith('KB'));
  const refused = measured.filter(({ answer }) => !answer.endsWith('KB'));
  const head = '| document | size | block, least (ms) | block, median (ms) | in all (ms) | answer |\n|---|---|---|---|---|---|';
  return `# The worst documents

Written by \`npm run bench:documents -- --write\`: Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? 'a processor'}, ${rounds} rounds. A block is the longest
time between two turns of the event loop while the document was answered; PostgreSQL runs on the same machine, and so the least block says what the
document takes, and the median what a neighbour adds. No document is in a cache.

## Within the default limits

${head}
${passed.map(toLine).join('\n')}

## Refused, by a limit, by validation or by PostgreSQL

${head}
${refused.map(toLine).join('\n')}
`;
}
