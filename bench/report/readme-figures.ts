/**
 * The figures in the README, taken from results.md: a few workloads, and the line that says where and when they were measured. The
 * benchmark writes them after results.md; `node bench/report/readme-figures.ts` writes only them.
 */
import { readFile, writeFile } from 'node:fs/promises';

const resultsFile = new URL('../results.md', import.meta.url);
const readmeFile = new URL('../../README.md', import.meta.url);
const start = '<!-- figures of bench/results.md -->';
const end = '<!-- end of figures -->';
/** The most common kinds of requests. `update` is where rowgraph is furthest behind hand-written SQL. */
const shown = ['point', 'page', 'nested', 'many-to-many', 'count', 'insert', 'update'] as const;
const servers = ['rowgraph', 'bare', 'postgraphile'] as const;

/** The README with its figures replaced by those of the results. Throws if either text lacks what is looked for. */
export function withFigures(readme: string, results: string): string {
  const from = readme.indexOf(start);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md has no place for figures, which begins with ${start} and ends with ${end}`);
  return `${readme.slice(0, from)}${start}\n${describeFigures(results)}\n${readme.slice(to)}`;
}

function describeFigures(results: string): string {
  const ran = find(
    results,
    /^This page is written by the benchmark\. It ran on (\S+): (rowgraph .+),\npg [\d.]+, (PostGraphile [\d.]+), (.+)\.$/m,
  );
  const machine = find(results, /^(\d+ cores) \((.+)\), (\d+ GB of memory)/m);
  const rounds = find(results, /^Medians of (\d+) rounds/m)[0];
  const questions = results.slice(results.indexOf('## What is asked'));
  const rows = shown.map((workload) => {
    const question = find(questions, new RegExp(`^\\| ${workload} +\\| (.+?) *\\|$`, 'm'))[0];
    const figures = servers.map((server) => Number(find(results, new RegExp(`^\\| ${workload} +\\| ${server} +\\| +(\\d+) \\|`, 'm'))[0]));
    return `| ${[question, ...figures.map((figure) => figure.toLocaleString('en-US'))].join(' | ')} |`;
  });
  return `Requests per second through one process, beside a server that sends hand-written SQL for each of these requests and does nothing else, and beside PostGraphile:

| | rowgraph | hand-written | PostGraphile |
|---|---:|---:|---:|
${rows.join('\n')}

Medians of ${rounds} rounds on ${ran[0]}: ${ran[1]}, ${ran[2]}, ${ran[3]}; ${machine[0]} (${machine[1]?.replaceAll('(R)', '')}) and ${machine[2]} for
PostgreSQL, the server and the load together. [All figures](bench/results.md), with latencies, memory and how to repeat them; [what a request costs](docs/performance.md).
`;
}

function find(text: string, pattern: RegExp): string[] {
  const [, ...groups] = pattern.exec(text) ?? [];
  if (groups.length === 0) throw new Error(`bench/results.md has nothing like ${pattern}`);
  return groups.map((group) => group ?? '');
}

/** Writes the figures of results.md into the README. */
export async function writeReadmeFigures(): Promise<void> {
  const [readme, results] = await Promise.all([readFile(readmeFile, 'utf8'), readFile(resultsFile, 'utf8')]);
  await writeFile(readmeFile, withFigures(readme, results));
}

if (import.meta.main) await writeReadmeFigures();
