/** The meaning of PostgreSQL's letters for relations with rows. */
import type { RelationKind } from '../catalog/catalog.ts';
import type { TableKind } from './model.ts';

export const tableKinds: Readonly<Record<RelationKind, TableKind>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
};
