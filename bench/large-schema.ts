/**
 * `npm run bench:large`: rowgraph over schemas with many tables, and with many roles. Prints what it measures, and writes large-schema.md
 * if all workloads ran. Words after `--` select only the workloads whose names contain one of them.
 */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { distinctRoles } from './large-schema/distinct-roles.ts';
import { equalRoles } from './large-schema/equal-roles.ts';
import { manyTables } from './large-schema/many-tables.ts';
import { readCommit } from './report/report.ts';
import { buildPackage, ownRoot } from './servers/start-server.ts';

const workloads = [manyTables(2000, 3), manyTables(10_000, 1), equalRoles, distinctRoles];
const words = process.argv.slice(2);

const page = `# Results of \`npm run bench:large\`

This page is written by the benchmark. It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph at ${readCommit()}, Node ${process.versions.node}, without event triggers.
Load is 4 connections that ask for a page of 5 rows, each as soon as its answer is in. A block of the event loop is the time between
two looks at it (\`bench/abuse/note-blocks.ts\`), of which up to 5 ms are the measure's own. Everything runs on one machine of ${availableParallelism()} cores.
`;

buildPackage(ownRoot);
// PostgreSQL and the servers end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const sections: string[] = [];
for (const { name, about, run } of workloads) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  const table = (await run()).describe();
  console.log(`\n${name}\n${table}`);
  sections.push(`## ${name}\n\n${about}\n\n${table}\n`);
}
if (sections.length === workloads.length) await writeFile(new URL('large-schema.md', import.meta.url), [page, ...sections].join('\n'));
