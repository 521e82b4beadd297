/** What distances from the vectors of a column need. */
import type { CatalogColumn } from '../../catalog/catalog.ts';
import type { BuildContext } from '../build-context.ts';
import type { VectorColumn } from '../model.ts';
import { traitsOf } from '../types/named-types.ts';
import { type Metric, metricOfClass } from '../types/vector-metrics.ts';
import type { ValueType } from '../value-type.ts';

/** The version of pgvector that measures bits, and the first whose scans go on. */
const measuresBits = 7;
const scansOn = 8;

/** The most dimensions in HNSW indexes (https://github.com/pgvector/pgvector#hnsw); of sparse vectors, only those that are not 0 count. */
const mostIndexed: Readonly<Record<string, number>> = { vector: 2000, halfvec: 4000, sparsevec: Infinity, bit: 64_000 };

/** Null for a column of another type, and if the role may not use the schema of pgvector. */
export function vectorColumnOf({ catalog, privileges }: BuildContext, column: CatalogColumn, type: ValueType): VectorColumn | null {
  const { form, extension } = { form: traitsOf(type).vector, extension: catalog.vectorExtension };
  if (form === null || extension === null || !privileges.schemas.has(extension.schemaId)) return null;
  if (form === 'bits' && extension.minor < measuresBits) return null;
  const own = catalog.types.get(column.typeId);
  const base = own?.kind === 'd' ? catalog.types.get(own.baseId) : own;
  // A type of somebody else may have the same name.
  if (!base || base.schemaId !== (form === 'bits' ? base.schemaId : extension.schemaId)) return null;
  const [, dimensions] = /\((\d+)\)$/.exec(column.modifiedType ?? '') ?? [];
  return {
    form,
    // One without a length is one bit long.
    sqlType: form === 'bits' ? 'bit varying' : base.sql,
    dimensions: dimensions === undefined ? null : Number(dimensions),
    operatorSchema: extension.schema,
    operatorClass: form === 'bits' ? `${extension.quotedSchema}.bit` : base.sql,
    isIndexable: dimensions !== undefined && Number(dimensions) <= (mostIndexed[base.name] ?? 0),
    indexed: indexedMetrics(column),
    scansOn: extension.minor >= scansOn,
  };
}

/** PostgreSQL may choose any of several indexes. */
function indexedMetrics({ vectorIndexes }: CatalogColumn): VectorColumn['indexed'] {
  const indexed = new Map<Metric, 'in order' | 'nearly'>();
  for (const { method, operatorClass } of vectorIndexes) {
    const metric = metricOfClass(operatorClass);
    if (metric) indexed.set(metric, method === 'hnsw' && indexed.get(metric) !== 'nearly' ? 'in order' : 'nearly');
  }
  return indexed;
}
