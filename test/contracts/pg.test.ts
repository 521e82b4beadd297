/** What rowgraph needs of pg beyond its documentation. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before } from 'node:test';
import { Client, Pool } from 'pg';
import { isServerError } from '../../src/database/to-database-error.ts';
import { encodeScript } from '../../src/database/wire/encode-batch.ts';
import {
  connectClient,
  createClient,
  createClientBeside,
  cutConnection,
  isUnconnected,
  type PgClient,
  type PgPool,
  PgSocket,
  type PgWire,
  sendCancelRequest,
} from '../../src/database/wire/pg-client.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { contract } from './contract.ts';

let server: PostgresServer;
before(async () => {
  server = await startPostgres();
});
after(() => server.stop());

async function withClient(use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client(server.url);
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** Notes what a client calls of a submittable that writes a text. */
class Recorder {
  readonly calls: string[] = [];
  readonly #text: string;
  connection: PgWire | null = null;
  error: unknown = null;

  constructor(text: string) {
    this.#text = text;
  }

  submit(connection: PgWire): void {
    this.calls.push('submit');
    this.connection = connection;
    connection.stream.write(encodeScript(this.#text));
  }

  handleRowDescription(): void {
    this.calls.push('rowDescription');
  }

  handleDataRow(): void {
    this.calls.push('dataRow');
  }

  handleCommandComplete(): void {
    this.calls.push('commandComplete');
  }

  handleReadyForQuery(): void {
    this.calls.push('readyForQuery');
  }

  handleError(error: unknown, connection: PgWire): void {
    this.calls.push(connection === this.connection ? 'error' : 'error of another connection');
    this.error = error;
  }
}

const submit = (client: Client, recorder: Recorder) => client.query(recorder as never);

contract('pg', 'database/wire/pg-client.ts', 'a client keeps whether it is connected', async () => {
  const client = new Client(server.url);
  const states = [isUnconnected(client)];
  const connecting = client.connect();
  states.push(isUnconnected(client));
  await connecting;
  states.push(isUnconnected(client));
  await client.end();
  assert.deepEqual(states, [true, false, false]);
});

contract('pg', 'database/wire/pg-exchange.ts', 'a client submits, and tells of messages until the server is ready', () =>
  withClient(async (client) => {
    const recorder = new Recorder('select 1');
    submit(client, recorder);
    await client.query('select 2');
    assert.deepEqual(recorder.calls, ['submit', 'rowDescription', 'dataRow', 'commandComplete', 'readyForQuery']);
  }),
);

contract('pg', 'database/wire/pg-exchange.ts', 'after an error a client tells nothing more, but its connection does', () =>
  withClient(async (client) => {
    const recorder = new Recorder("do $$ begin raise 'no' using detail = 'why', hint = 'how'; end $$");
    submit(client, recorder);
    let isReady = false;
    recorder.connection!.once('readyForQuery', () => {
      isReady = true;
    });
    await client.query('select 2');
    assert.deepEqual(recorder.calls, ['submit', 'error']);
    assert.equal(isReady, true);
    assert.ok(isServerError(recorder.error));
    const { code, detail, hint, where } = recorder.error;
    assert.deepEqual([code, detail, hint], ['P0001', 'why', 'how']);
    assert.match(where!, /^PL\/pgSQL function /);
  }),
);

contract('pg', 'database/wire/pg-exchange.ts', 'a connection that says it is ready ends what was submitted', () =>
  withClient(async (client) => {
    const recorder = new Recorder('select 1');
    recorder.submit = (connection) => {
      recorder.calls.push('submit');
      setImmediate(() => connection.emit('readyForQuery', { status: 'I' }));
    };
    submit(client, recorder);
    await client.query('select 2');
    assert.deepEqual(recorder.calls, ['submit', 'readyForQuery']);
  }),
);

contract(
  'pg',
  'database/wire/pg-exchange.ts',
  'the query_timeout of what is submitted goes before that of the client, and its callback stops the timer',
  async () => {
    const client = new Client({ connectionString: server.url, query_timeout: 1 });
    await client.connect();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const recorder = Object.assign(new Recorder('select 1'), {
      query_timeout: 2 ** 31 - 1,
      callback: () => recorder.calls.push('callback'),
    });
    const isReady = once(client, 'drain');
    submit(client, recorder);
    assert.equal(timers(), before + 1);
    await isReady;
    assert.equal(recorder.calls.at(-1), 'readyForQuery');
    recorder.callback();
    assert.equal(recorder.calls.at(-1), 'callback');
    assert.equal(timers(), before);
    await client.end();
  },
);

contract('pg', 'database/wire/pg-exchange.ts', 'a client says whether it is in a transaction, and what its query_timeout is', () =>
  withClient(async (client) => {
    const { getTransactionStatus, connectionParameters } = client as unknown as PgClient;
    const status = () => getTransactionStatus!.call(client);
    assert.equal(connectionParameters!.query_timeout, false);
    assert.equal(status(), 'I');
    await client.query('begin');
    assert.equal(status(), 'T');
    await assert.rejects(client.query('select 1/0'));
    // The first error came before the status did.
    await assert.rejects(client.query('select 1'));
    assert.equal(status(), 'E');
    await client.query('rollback');
    assert.equal(status(), 'I');
  }),
);

contract('pg', 'database/wire/pg-client.ts', 'a connection listens for the data of its stream, and takes messages one by one', () =>
  withClient(async (client) => {
    const recorder = new Recorder('select 1');
    recorder.submit = ({ stream }) => {
      const listeners = stream.listeners('data');
      assert.equal(listeners.length, 1);
      const tell = (bytes: Buffer) => (listeners[0] as (this: unknown, bytes: Buffer) => void).call(stream, bytes);
      setImmediate(() => {
        tell(Buffer.from('C\0\0\0\rSELECT 1\0', 'latin1'));
        recorder.calls.push('told');
        tell(Buffer.from('Z\0\0\0\x05I', 'latin1'));
      });
    };
    submit(client, recorder);
    await client.query('select 2');
    assert.deepEqual(recorder.calls, ['commandComplete', 'told', 'readyForQuery']);
  }),
);

contract('pg', 'database/wire/pg-client.ts', 'a client has the key of its backend, and a connection cancels', () =>
  withClient(async (client) => {
    const cancellable = client as unknown as Parameters<typeof sendCancelRequest>[0];
    const sleeping = assert.rejects(client.query('select pg_sleep(60)'), { code: '57014' });
    // PostgreSQL ignores a request that comes before it has read what it is to cancel.
    const repeated = setInterval(() => void sendCancelRequest(cancellable, 2000), 50);
    await sleeping;
    clearInterval(repeated);
    assert.equal(await sendCancelRequest(cancellable, 2000), 'delivered');
  }),
);

contract('pg', 'database/wire/pg-client.ts', 'a client reads from a socket of its option stream, and ends when that is cut', async () => {
  const client = createClient(server.url);
  client.on('error', () => undefined);
  await connectClient(client);
  assert.ok(client.connection?.stream instanceof PgSocket);
  const isEnded = new Promise<void>((resolve) => client.on('end', resolve));
  cutConnection(client);
  await isEnded;
});

contract(
  'pg',
  'database/wire/pg-client.ts',
  'a client can be opened beside a pool, and one that is returned with an error is removed',
  async () => {
    const pool = new Pool({ connectionString: server.url, max: 1 });
    const beside = createClientBeside(pool as unknown as PgPool);
    await beside.connect();
    await beside.end();
    const client = await pool.connect();
    assert.deepEqual([pool.options.max, pool.waitingCount], [1, 0]);
    const isRemoved = once(pool, 'remove');
    client.release(new Error('no more'));
    // Not by `assert.equal`, whose message would hold all that clients refer to.
    assert.ok((await isRemoved)[0] === client);
    await pool.end();
  },
);
