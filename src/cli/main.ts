#!/usr/bin/env node
/** The command `rowgraph`. Everything else is loaded only after checking that this Node can run it. */
import { refuseNode } from '../required-node.ts';

const refusal = refuseNode(process.versions.node);
if (refusal === null) await import('./run-main.ts');
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
