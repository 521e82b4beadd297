/**
 * The limit of the platform: a `node:http` handler that knows only the benchmark's documents, sends the hand-written statement of each
 * under the caller's role in one batch, and passes on its text.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Pool } from 'pg';
import type { Asked, Statement, Variables } from '../workloads/workload.ts';
import { workloads } from '../workloads/workloads.ts';
import { type Caller, identifyCaller, readSurroundings } from './caller.ts';
import { type BoundStatement, RoleBatch } from './role-batch.ts';

interface KnownStatement extends Statement {
  readonly name: string;
}

const { port, databaseUrl, secret, poolSize } = readSurroundings();
const pool = new Pool({ connectionString: databaseUrl, max: poolSize, idleTimeoutMillis: 0 });
/** The statements of each document. */
const known = new Map<string, readonly KnownStatement[]>();
for (const workload of workloads) {
  learn(workload.name, workload);
  if (workload.position) learn(`${workload.name}-position`, workload.position);
}

function learn(name: string, { rowgraph, statement, ahead = [] }: Asked): void {
  if (!statement) return;
  const statements = [...ahead, statement].map((each, index) => ({ name: `${name}-${index}`, ...each }));
  known.set(rowgraph, statements);
}

async function answer(request: IncomingMessage): Promise<string> {
  const { query, variables } = JSON.parse(await text(request)) as { query: string; variables: Variables };
  const statements = known.get(query);
  if (!statements) throw new Error('This handler does not know the document');
  const bound = statements.map(({ name, text, values }) => ({ name, text, values: values(variables) }));
  return run(identifyCaller(request.headers, secret), bound);
}

async function run(caller: Caller, statements: readonly BoundStatement[]): Promise<string> {
  const client = await pool.connect();
  return new Promise((resolve, reject) => {
    const batch = new RoleBatch(caller, statements, (error, value) => {
      client.release(error ?? undefined);
      if (error) reject(error);
      else resolve(value ?? 'null');
    });
    client.query(batch);
  });
}

createServer((request, response) => {
  answer(request).then(
    (body) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
    },
    (error: Error) => {
      response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ errors: [{ message: error.message }] }));
    },
  );
}).listen(port, '127.0.0.1');
