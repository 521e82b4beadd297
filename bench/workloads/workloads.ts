/** All workloads, in the order of the report. */
import { getIntrospectionQuery } from 'graphql';
import { aggregates } from './aggregates.ts';
import { keysetPages } from './keyset-pages.ts';
import { nestedWrites } from './nested-writes.ts';
import { reads } from './reads.ts';
import { relations } from './relations.ts';
import { rowSecurity } from './row-security.ts';
import { shapes } from './shapes.ts';
import type { Workload } from './workload.ts';
import { writes } from './writes.ts';

const introspection: Workload = {
  name: 'introspection',
  title: 'full standard introspection',
  role: 'anon',
  variables: () => ({}),
  incomparable: true,
  rowgraph: getIntrospectionQuery(),
  postgraphile: getIntrospectionQuery(),
};

export const workloads: readonly Workload[] = [
  ...reads,
  ...aggregates,
  ...keysetPages,
  ...relations,
  ...writes,
  ...nestedWrites,
  ...rowSecurity,
  ...shapes,
  introspection,
];
