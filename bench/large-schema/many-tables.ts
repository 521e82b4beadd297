/** Many tables: the first answers, memory, a reload under load, full introspection. */
import { getIntrospectionQuery } from 'graphql';
import { type LargeDatabase, type LargeWorkload, overDatabase } from './large-database.ts';
import { type Figures, MeasuredServer, pageRequest } from './measured-server.ts';

const introspection = JSON.stringify({ query: getIntrospectionQuery() });

/** This many tables, measured in this many processes, one after the other. */
export function manyTables(tables: number, rounds: number): LargeWorkload {
  const count = tables.toLocaleString('en');
  const about = `${count} tables of 12 columns and 2 foreign keys each. Three roles may use all of it, \`reader\` may read it.
${rounds} round${rounds === 1 ? '' : 's'}, each a new process.`;
  return overDatabase({ name: `${count} tables`, about, tables }, async (database, figures) => {
    for (let round = 1; round <= rounds; round++) await measureRound(round, database, figures);
  });
}

async function measureRound(round: number, database: LargeDatabase, figures: Figures): Promise<void> {
  const start = performance.now();
  await MeasuredServer.use(database.url, figures, async (server) => {
    await server.ask('anon', pageRequest('id'));
    figures.add('start of the process to the first answer, ms', performance.now() - start);
    server.noteMemory('one role');
    await server.time('first answer to a role of equal grants', () => server.ask('authenticated', pageRequest('id')));
    await server.time('first answer to a role of other grants', () => server.ask('reader', pageRequest('id')));
    await server.ask('service_role', pageRequest('id'));
    server.noteMemory('four roles');
    await server.load('load', ['anon']);
    await server.load('load with a reload', ['anon'], async () => {
      await database.run(`alter table thing_1 add column added_${round} int`);
      await server.time('commit of DDL to an answer that knows of it', () => server.untilAnswered('anon', pageRequest(`added${round}`)));
    });
    server.noteMemory('four roles, after the reload');
    const text = await server.time('full introspection, first', () => server.ask('anon', introspection));
    await server.time('full introspection, again', () => server.ask('anon', introspection));
    figures.add('full introspection: size, MB', Buffer.byteLength(text) / 1e6);
    server.noteMemory('after introspection');
  });
}
