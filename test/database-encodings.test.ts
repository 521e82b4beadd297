/**
 * A database whose encoding lacks characters: claims with such characters do not fail requests, and values with them are rejected with the
 * reason.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { type Caller, createRowgraph, type Rowgraph } from '../src/index.ts';
import { startTestDatabases, type TestDatabases } from './support/test-databases.ts';

const setup = `
  grant usage on schema public to anon;
  create table note (id int primary key, text text); grant all on note to anon; insert into note values (1, 'plain');
  create function claim(name text) returns text language sql stable as $$ select current_setting('request.jwt.claims')::json ->> name $$;
`;

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases();
});
after(() => databases.close());

/** Opens a graph over a database with this encoding. */
async function open(encoding: string): Promise<Rowgraph> {
  const name = encoding.toLowerCase();
  const { run, port } = await databases.create('');
  await run(`create database ${name} template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`);
  const admin = new Client(`postgres://postgres@127.0.0.1:${port}/${name}`);
  await admin.connect();
  await admin.query(setup);
  await admin.end();
  return createRowgraph({ database: `postgres://authenticator@127.0.0.1:${port}/${name}` });
}

const caller: Caller = { role: 'anon', claims: { city: 'Málaga', price: '5 €', smile: '😀' } };
const western: Caller = { role: 'anon', claims: { city: 'Málaga' } };

describe('a database in LATIN1', () => {
  let graph: Rowgraph;
  before(async () => {
    graph = await open('LATIN1');
  });
  after(() => graph.close());
  const ask = (query: string, variables = {}, as = caller) => graph.execute({ query, variables }, as);

  it('accepts claims with characters that it lacks; reading them then fails', async () => {
    const rows = { noteCollection: { edges: [{ node: { text: 'plain' } }] } };
    assert.deepEqual(await ask('{ noteCollection { edges { node { text } } } }'), { data: rows });
    assert.deepEqual(await ask('{ claim(name: "city") }', {}, western), { data: { claim: 'Málaga' } });
    const { errors } = await ask('{ claim(name: "city") }');
    assert.deepEqual(
      [errors?.[0]?.path, errors?.[0]?.extensions.code, errors?.[0]?.extensions.sqlstate],
      [['claim'], 'INVALID_VALUE', '22P05'],
    );
  });

  it('rejects values with such characters', async () => {
    for (const [query, variables, path] of [
      ['{ noteCollection(filter: {text: {eq: "5 €"}}) { edges { cursor } } }', {}, 'noteCollection'],
      [
        'mutation ($t: String) { insertIntonoteCollection(objects: [{id: 2, text: $t}]) { affectedCount } }',
        { t: '😀' },
        'insertIntonoteCollection',
      ],
    ] as const) {
      const { errors } = await ask(query, variables);
      const { code, sqlstate, hint } = errors![0]!.extensions;
      assert.deepEqual([code, sqlstate, errors![0]!.path], ['BAD_USER_INPUT', '22P05', [path]]);
      assert.match(String(hint), /encoding of the database has no such character/);
    }
    const written = await ask('mutation { insertIntonoteCollection(objects: [{id: 3, text: "ñ"}]) { records { text } } }');
    assert.deepEqual(written, { data: { insertIntonoteCollection: { records: [{ text: 'ñ' }] } } });
  });
});

describe('a database in SQL_ASCII', () => {
  it('stores the bytes that it is given', async (context) => {
    const graph = await open('SQL_ASCII');
    context.after(() => graph.close());
    assert.deepEqual(await graph.execute({ query: '{ claim(name: "price") }' }, caller), { data: { claim: '5 €' } });
  });
});
