/** The kinds of tables, by `pg_class.relkind`. */
import type { RelationKind } from '../catalog/catalog.ts';
import type { TableKind } from './model.ts';

export const tableKinds: Readonly<Record<RelationKind, TableKind>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
};
