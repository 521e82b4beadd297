/** A program that is bundled with the library and run where there are no packages. In: a URL of PostgreSQL; out: a response, on stdout. */
import { createRowgraph } from 'rowgraph';

async function main(): Promise<void> {
  const graph = await createRowgraph({ database: process.argv[2] ?? '', schemaTriggers: true, trustedRoles: ['postgres'] });
  console.log(JSON.stringify(await graph.execute({ query: '{ answer }' }, { role: 'postgres' })));
  await graph.close();
}

void main();
