/**
 * The limit of the platform: a `node:http` handler that knows the benchmark's documents by heart, sends the hand-written statement of each
 * under the caller's role in one batch, and passes its text on. It can answer nothing else.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Pool } from 'pg';
import type { Asked, Variables } from '../workloads/workload.ts';
import { workloads } from '../workloads/workloads.ts';
import { RoleBatch } from './role-batch.ts';
import { readSurroundings } from './surroundings.ts';
import { type Caller, identifyCaller } from './tokens.ts';

interface KnownStatement {
  readonly name: string;
  readonly text: string;
  values(variables: Variables): string[];
}

const { port, databaseUrl, secret, poolSize } = readSurroundings();
const pool = new Pool({ connectionString: databaseUrl, max: poolSize, idleTimeoutMillis: 0 });
const statements = new Map<string, KnownStatement>();
for (const workload of workloads) {
  learn(workload.name, workload);
  if (workload.position) learn(`${workload.name}-position`, workload.position);
}

function learn(name: string, { rowgraph, statement }: Asked): void {
  if (statement) statements.set(rowgraph, { name, ...statement });
}

async function answer(request: IncomingMessage): Promise<string> {
  const { query, variables } = JSON.parse(await text(request)) as { query: string; variables: Variables };
  const statement = statements.get(query);
  if (!statement) throw new Error('This handler does not know the document');
  return run(identifyCaller(request.headers, secret), statement, statement.values(variables));
}

async function run(caller: Caller, statement: KnownStatement, values: readonly string[]): Promise<string> {
  const client = await pool.connect();
  return new Promise((resolve, reject) => {
    const batch = new RoleBatch(caller, statement, values, (error, value) => {
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
