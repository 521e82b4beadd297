/** Which columns have distances from others, and what measuring them needs. */
import type { CatalogColumn, CatalogType } from '../../catalog/catalog.ts';
import type { AdditionName } from '../../settings/additions.ts';
import type { Additions } from '../additions.ts';
import { type BuildContext, privilegesOn } from '../build-context.ts';
import type { MeasuredColumn } from '../model.ts';
import { forms, type MeasuredInput, type Metric, metricsOfClass } from '../types/metrics.ts';
import { type MeasuredForm, postgresType } from '../types/postgres-types.ts';
import type { LazyTable } from './lazy-table.ts';
import { trigramsOf } from './value-types.ts';

/** The version of pgvector that measures bits, and the first whose scans go on. */
const measuresBits = 7;
const scansOn = 8;

/** The most dimensions in HNSW indexes (https://github.com/pgvector/pgvector#hnsw); of sparse vectors, only those that are not 0 count. */
const mostIndexed: Readonly<Record<string, number>> = { vector: 2000, halfvec: 4000, sparsevec: Infinity, bit: 64_000 };

/** A type whose values have distances, which may be a domain over one. */
interface MeasuredType {
  readonly base: CatalogType;
  readonly form: MeasuredForm;
}

/** Undefined for a type without distances, and if the role may not use the schema of their operators. */
function measuredTypeOf(context: BuildContext, typeId: number, additions: Additions): MeasuredType | undefined {
  const { catalog, privileges } = context;
  const own = catalog.types.get(typeId);
  const base = own?.kind === 'd' ? catalog.types.get(own.baseId) : own;
  if (base === undefined) return undefined;
  const { measured, aggregates } = postgresType(base);
  const form = measured ?? (aggregates.max === 'String' ? 'text' : null);
  if (form === null || !additions.has(additionOf(form))) return undefined;
  const isReached = (): boolean => {
    const { vectorExtension } = catalog;
    if (form === 'shape') return true;
    if (form === 'place') return base.schemaId === catalog.postgisSchemaId && privileges.schemas.has(base.schemaId);
    if (form === 'text') return trigramsOf(context) !== null;
    if (vectorExtension === null || !privileges.schemas.has(vectorExtension.schemaId)) return false;
    // A type of somebody else may have the same name.
    return form === 'bits' ? vectorExtension.minor >= measuresBits : base.schemaId === vectorExtension.schemaId;
  };
  return isReached() ? { base, form } : undefined;
}

function additionOf(form: MeasuredForm): AdditionName {
  return form === 'text' ? 'search' : form === 'place' ? 'geometry' : 'vectors';
}

/** Null for a column without distances. */
export function measuredColumnOf(context: BuildContext, column: CatalogColumn, additions: Additions): MeasuredColumn | null {
  const type = measuredTypeOf(context, column.typeId, additions);
  if (type === undefined) return null;
  const { form } = type;
  const common = { form, indexed: indexedMetrics(form, column), dimensions: null, isIndexable: true, scansOn: false, castTo: null };
  switch (form) {
    case 'place':
      return {
        ...common,
        sqlType: type.base.sql,
        operatorSchema: type.base.sql.slice(0, type.base.sql.lastIndexOf('.')),
        operatorClass: null,
      };
    case 'shape':
      return { ...common, sqlType: 'point', operatorSchema: 'pg_catalog', operatorClass: null };
    case 'text': {
      const schema = trigramsOf(context) ?? '';
      return { ...common, sqlType: 'text', castTo: 'text', operatorSchema: schema, operatorClass: `${schema}.gist_trgm_ops` };
    }
    default:
      return { ...common, ...vectorColumnOf(context, column, type) };
  }
}

function vectorColumnOf({ catalog: { vectorExtension } }: BuildContext, column: CatalogColumn, { form, base }: MeasuredType) {
  const { quotedSchema = '', minor = 0 } = vectorExtension ?? {};
  const [, dimensions] = /\((\d+)\)$/.exec(column.modifiedType ?? '') ?? [];
  return {
    // One without a length is one bit long.
    sqlType: form === 'bits' ? 'bit varying' : base.sql,
    dimensions: dimensions === undefined ? null : Number(dimensions),
    operatorSchema: quotedSchema,
    operatorClass: form === 'bits' ? `${quotedSchema}.bit` : base.sql,
    isIndexable: dimensions !== undefined && Number(dimensions) <= (mostIndexed[base.name] ?? 0),
    scansOn: minor >= scansOn,
  };
}

/** PostgreSQL may choose any of several indexes. */
function indexedMetrics(form: MeasuredForm, { distanceIndexes }: CatalogColumn): MeasuredColumn['indexed'] {
  const indexed = new Map<Metric, 'in order' | 'nearly'>();
  for (const { method, operatorClass } of distanceIndexes)
    for (const metric of metricsOfClass(form, operatorClass))
      indexed.set(metric, method !== 'ivfflat' && indexed.get(metric) !== 'nearly' ? 'in order' : 'nearly');
  return indexed;
}

/** What clients may measure from in any of the tables, without building their columns. */
export function* measuredInputsOf(context: BuildContext, tables: Iterable<LazyTable>): Generator<void, ReadonlySet<MeasuredInput>> {
  const found = new Set<MeasuredInput>();
  const ids = [...context.catalog.types.values()].filter(({ id }) => measuredTypeOf(context, id, context.settings.additions));
  const typeIds = new Set(ids.map(({ id }) => id));
  if (typeIds.size === 0) return found;
  for (const { traits } of tables) {
    const { catalogTable, additions } = traits;
    for (const column of catalogTable.columns) {
      if (!typeIds.has(column.typeId) || !privilegesOn(context, catalogTable, column).select) continue;
      const type = measuredTypeOf(context, column.typeId, additions);
      if (type) found.add(forms[type.form].input);
    }
    yield;
  }
  return found;
}
