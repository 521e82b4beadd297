/** Runs the load generator. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Job, JobResult } from './job.ts';

const program = fileURLToPath(new URL('./generate-load.ts', import.meta.url));

/** Generates the load that a job describes. */
export async function runLoad(job: Job): Promise<JobResult> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  child.stdin.end(JSON.stringify(job));
  const output = await text(child.stdout);
  await ended;
  return JSON.parse(output) as JobResult;
}
