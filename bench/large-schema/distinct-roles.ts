/** Hundreds of roles with different grants: how much they take, and what one more costs itself and all others. */
import { overDatabase } from './large-database.ts';
import { loadRequest, MeasuredServer } from './measured-server.ts';

const tables = 300;
const count = 500;
const roles = Array.from({ length: count + 1 }, (_, index) => `member_${index}`);

/** All may read everything; each may insert into and update one table. No two roles have the same pair of tables. */
const sql = `
do $$
begin
  for number in 0..${count} loop
    execute format(
      'create role member_%1$s in role reader; grant member_%1$s to authenticator; grant insert on thing_%2$s to member_%1$s;
      grant update on thing_%3$s to member_%1$s',
      number, number % ${tables} + 1, number / 2 + 1);
  end loop;
end $$`;

const name = `${count} roles with a set of grants each`;
const about = `${tables} tables, and roles that may all read them and write two of them, each two others. They ask for a page in turn: ${count} of them,
and then one more. One process.`;

export const distinctRoles = overDatabase({ name, about, tables, sql }, async (database, figures) => {
  await MeasuredServer.use(database.url, figures, async (server) => {
    const most = roles.slice(0, count);
    const [last] = roles.slice(count);
    const start = performance.now();
    await server.askAll(most, loadRequest);
    figures.add(`${count} roles: first answer to each, ms for one`, (performance.now() - start) / count, 1);
    server.noteMemory(`${count} roles, after the first answer to each`);
    await server.load(`${count} roles`, most);
    server.noteMemory(`${count} roles, after the load`);
    await server.time('one role more: its first answer', () => server.ask(last!, loadRequest));
    await server.load('one role more, all in turn', roles);
    server.noteMemory('one role more, after the load');
  });
});
