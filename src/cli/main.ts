#!/usr/bin/env node
/** The command `rowgraph`. All else is loaded after it is clear that this Node can read it. */
import { refuseNode } from './required-node.ts';

const refusal = refuseNode(process.versions.node);
if (refusal === null) await import('./run-main.ts');
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
