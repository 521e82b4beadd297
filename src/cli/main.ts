#!/usr/bin/env node
/** The command `rowgraph`. Everything else is loaded only after checking that this Node can run it. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { refuseNode } from '../required-node.ts';

const refusal = refuseNode(process.versions.node);
if (refusal === null) {
  const [{ enableCompileCache }, { readEnvironment, userCacheFolder }] = await Promise.all([import('node:module'), import('./config.ts')]);
  const environment = readEnvironment();
  // Halves the time to load the many modules, so all others are imported after this.
  enableCompileCache(join(userCacheFolder(environment, process.platform, homedir()), 'compiled'));
  const { runProgram } = await import('./program.ts');
  process.exitCode = await runProgram(environment);
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
