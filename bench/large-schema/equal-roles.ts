/** Ten thousand roles with ten sets of grants, compared with ten roles with the same sets. */

import { overDatabase } from './large-database.ts';
import { type Figures, loadRequest, MeasuredServer } from './measured-server.ts';

const tables = 300;
const sets = 10;
const count = 10_000;
const roles = Array.from({ length: count }, (_, index) => `member_${index}`);

/** Each set may read everything, and insert into one table of its own. */
const sql = `
do $$
begin
  for number in 0..${sets - 1} loop
    execute format('create role set_%s in role reader; grant insert on thing_%s to set_%s', number, number + 1, number);
  end loop;
  for number in 0..${count - 1} loop
    execute format('create role member_%s in role set_%s; grant member_%s to authenticator', number, number % ${sets}, number);
  end loop;
end $$`;

const name = `${count.toLocaleString('en')} roles with ${sets} sets of grants`;
const about = `${tables} tables, and ${count.toLocaleString('en')} roles with ${sets} different sets of grants on them, beside ${sets} roles with
the same sets. All ask for a page in turn. Each number of roles has a new process.`;

export const equalRoles = overDatabase({ name, about, tables, sql }, async (database, figures) => {
  for (const some of [roles.slice(0, sets), roles]) await measureRoles(database.url, some, figures);
});

async function measureRoles(url: string, some: readonly string[], figures: Figures): Promise<void> {
  const named = `${some.length.toLocaleString('en')} roles`;
  await MeasuredServer.use(url, figures, async (server) => {
    const start = performance.now();
    await server.askAll(some, loadRequest);
    figures.add(`${named}: first answer to each, ms for one`, (performance.now() - start) / some.length, 1);
    server.noteMemory(`${named}, after the first answer to each`);
    await server.load(named, some);
    server.noteMemory(`${named}, after the load`);
  });
}
