/** What Citus makes of the tables, and what it needs of the role. Nothing without Citus. */
import type { Placement } from '../catalog/catalog.ts';
import type { Database } from '../database/database.ts';
import { qualifiedName } from '../model/naming/names.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './finding-codes.ts';

const loginQuery = 'select r.rolcanlogin from pg_catalog.pg_roles r where r.rolname = $1';

export async function findPlacements(database: Database, { model, roleSql }: Examination): Promise<Finding[]> {
  if (model.tables.every(({ placement }) => placement === null)) return [];
  const tables = model.tables.filter(({ kind }) => kind === 'table' || kind === 'partitioned table');
  const [row] = await database.query(loginQuery, [model.role]);
  const routines = [...model.routines, ...model.tables.flatMap(({ computed }) => computed)].filter(({ missesShards }) => missesShards);
  return [
    ...(row?.[0] === 't'
      ? []
      : [finding('role-without-login', 'role', model.role, withoutLogin, { remedy: `alter role ${roleSql} login;` })]),
    ...routines.map(({ schema, name }) => finding('misses-shards', 'function', qualifiedName(schema, name), inlined)),
    ...tables.map(({ placement, kind, schema, name }) =>
      finding('table-placement', kind, qualifiedName(schema, name), describe(placement)),
    ),
  ];
}

const withoutLogin = 'Citus connects to its nodes as this role, which cannot log in, so that every request on distributed tables fails';
const inlined =
  'it returns a set, is written in SQL and not volatile, so that it finds no rows of distributed tables; write it in PL/pgSQL';

function describe(placement: Placement | null): string {
  if (placement?.kind === 'distributed') {
    const { column, shards, group } = placement;
    return `it is distributed by ${column} over ${shards} shards, together with all tables of the group ${group}`;
  }
  if (placement?.kind === 'single shard') return `it is on a single shard, together with all tables of the group ${placement.group}`;
  if (placement?.kind === 'reference') return 'it is a reference table: every node has all of its rows';
  return 'it is a local table: only the coordinator has it';
}
