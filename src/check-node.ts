/** Imported ahead of everything else: a Node that is too old would fail later, at something that it lacks. */
import { refuseNode } from './required-node.ts';

const refusal = refuseNode(process.versions.node);
if (refusal !== null) throw new Error(refusal);
