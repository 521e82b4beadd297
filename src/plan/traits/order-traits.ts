/**
 * What each kind of order value is, said once: walks, measures, cursors, errors and explanations read it here. The SQL of a value is
 * `valueOfRow` in `compile/page/order-keys.ts`.
 */
import type { Column, Lineage, Relation } from '../../model/model.ts';
import type { RelatedRows } from '../../model/relations/related-rows.ts';
import type { Routine } from '../../model/routine.ts';
import { metrics } from '../../model/types/metrics.ts';
import { jsonValueTypes, namedTypes, operandScalar, traitsOf } from '../../model/types/named-types.ts';
import type { ScalarType, ValueType } from '../../model/value-type.ts';
import type { AggregateOrder, Distance, OrderValue, Search } from '../conditions.ts';
import type { Parameter } from '../parameter.ts';

interface OrderTraits {
  /** As which cursors compare it. */
  readonly type: ValueType;
  /** Equal for equal values of a table's rows. */
  readonly identity: string;
  /** The names of the columns that it is computed from, without those of related rows; null for the whole row. */
  readonly columns: readonly string[] | null;
  /** Set if it is the column itself, which an index may have. */
  readonly column?: Column;
  /** Whether it is null for no row of a statement that reads related rows together with it. `keepsNotNull`: constraints hold for the row. */
  readonly isNeverNull: (keepsNotNull: boolean) => boolean;
  /** The rows that it is read from. */
  readonly rows?: RelatedRows;
  /** Which value of these it is; none for an aggregate of all. */
  readonly inner?: OrderValue;
  readonly calls?: Routine;
  /** Whether it needs another row of the table itself. */
  readonly readsRow?: boolean;
  /** Whether it needs scans of vector indexes that go on until enough rows match. */
  readonly scansOn?: boolean;
  /** What it binds, unless a filter binds that as well. */
  readonly parameters?: readonly Parameter[];
  /** How explanations write it. */
  readonly text: (textOf: (parameter: Parameter) => string) => string;
}

const never = (): boolean => false;
const always = (): boolean => true;

export function traitsOfOrder(value: OrderValue): OrderTraits {
  switch (value.kind) {
    case 'column':
      return ofColumn(value.column);
    case 'computed':
      return ofRoutine(value.routine);
    case 'json value':
      return ofJsonValue(value);
    case 'attribute':
      return ofAttribute(value);
    case 'search rank':
      return ofRank(value);
    case 'distance':
      return ofDistance(value.distance);
    case 'score':
      return { type: namedTypes.float8, identity: 'score', columns: [], isNeverNull: always, text: () => 'score' };
    case 'depth':
      return ofDepth(value.lineage);
    case 'related':
      return ofRelated(value.rows, value.value);
    case 'aggregate':
      return ofAggregate(value);
  }
}

function ofColumn(column: Column): OrderTraits {
  return {
    type: column.type,
    identity: JSON.stringify(['column', column.name]),
    columns: [column.name],
    column,
    isNeverNull: (keepsNotNull) => column.notNull && keepsNotNull,
    text: () => column.name,
  };
}

function ofRoutine(routine: Routine): OrderTraits {
  const { name, schema, fieldName, result } = routine;
  if (result.kind !== 'value') throw new Error(`${name} returns no value to order by.`);
  return {
    type: result.type,
    identity: JSON.stringify(['computed', fieldName]),
    columns: null,
    isNeverNull: never,
    calls: routine,
    text: () => `${schema}.${name}()`,
  };
}

function ofJsonValue({ column, keys, as }: Extract<OrderValue, { kind: 'json value' }>): OrderTraits {
  return {
    type: jsonValueTypes[as].type,
    identity: JSON.stringify(['json value', column.name, as, keys.value]),
    columns: [column.name],
    isNeverNull: never,
    parameters: [keys],
    text: (textOf) => `${column.name} at ${textOf(keys)} as ${as.toLowerCase()}`,
  };
}

function ofAttribute({ column, value }: Extract<OrderValue, { kind: 'attribute' }>): OrderTraits {
  const { type, identity, parameters, text } = traitsOfOrder(value);
  return {
    type,
    identity: `${JSON.stringify(['attribute', column.name])} ${identity}`,
    columns: [column.name],
    isNeverNull: never,
    ...(parameters && { parameters }),
    text: (textOf) => `${column.name}.${text(textOf)}`,
  };
}

function ofRank({ search, mayBeNull }: Extract<OrderValue, { kind: 'search rank' }>): OrderTraits {
  return {
    type: namedTypes.float4,
    identity: 'search rank',
    columns: columnsOfSearch(search),
    // Rows without the text would not have been found by it.
    isNeverNull: mayBeNull ? never : always,
    text: () => 'search rank',
  };
}

/** The names of the columns that a search looks at. */
export function columnsOfSearch({ by: { vector, parts, shown }, mode }: Search): readonly string[] {
  if (mode === 'similar') return shown.map(({ name }) => name);
  return vector === null ? parts.map(({ name }) => name) : [vector];
}

function ofDistance(distance: Distance): OrderTraits {
  return {
    type: namedTypes[metrics[distance.metric].result],
    identity: JSON.stringify(['distance', distance.column.name]),
    columns: [distance.column.name],
    // The filter leaves out rows without one.
    isNeverNull: always,
    readsRow: 'kind' in distance.from,
    scansOn: distance.measured.scansOn,
    text: (textOf) => distanceText(distance, textOf),
  };
}

export function distanceText({ column, metric, from }: Distance, textOf: (parameter: Parameter) => string): string {
  const origin = 'kind' in from ? `row ${from.key.map(({ parameter }) => textOf(parameter)).join(', ')}` : textOf(from);
  return `${metric} distance of ${column.name} from ${origin}`;
}

function ofDepth({ depthName }: Lineage): OrderTraits {
  return { type: namedTypes.int4, identity: 'depth', columns: [depthName], isNeverNull: always, text: () => 'depth' };
}

function ofRelated(rows: RelatedRows, inner: OrderValue): OrderTraits {
  const { type, identity, isNeverNull, text } = traitsOfOrder(inner);
  const relation = uniqueRelation(rows);
  return {
    type,
    identity: `${JSON.stringify(rows.fieldName)} ${identity}`,
    columns: columnsLeadingTo(rows),
    isNeverNull: (keepsNotNull) => !!relation && isAlwaysThere(relation, keepsNotNull) && isNeverNull(relation.target.keepsNotNull),
    rows,
    inner,
    text: (textOf) => `${rows.fieldName}.${text(textOf)}`,
  };
}

function ofAggregate(value: AggregateOrder): OrderTraits {
  const { rows } = value;
  const of = value.function === 'count' ? '' : value.column.name;
  return {
    type: aggregateType(value),
    identity: JSON.stringify([value.function, rows.fieldName, of]),
    columns: columnsLeadingTo(rows),
    isNeverNull: value.function === 'count' ? always : never,
    rows,
    text: () => `${value.function} of ${rows.fieldName}${of && `.${of}`}`,
  };
}

/** The type of such an aggregate, as which a cursor's value is compared. */
function aggregateType(value: AggregateOrder): ScalarType {
  if (value.function === 'count') return namedTypes.int8;
  const { type } = value.column;
  const { number, extremes } = traitsOf(type);
  if (value.function === 'sum' && number) return namedTypes[number.sum.exact];
  if (value.function === 'avg' && number) return namedTypes.numeric;
  return extremes === 'of text' || type.kind !== 'scalar' ? namedTypes.text : operandScalar(type);
}

/** The names of the columns of a row that lead to related rows; null if it takes the whole row. */
export function columnsLeadingTo({ by }: Pick<RelatedRows, 'by'>): readonly string[] | null {
  switch (by.kind) {
    case 'relation':
      return by.relation.columns.map(({ near }) => near);
    case 'lineage':
      return by.lineage.parent.columns.flatMap(({ near, target }) => [near, target]);
    case 'computed':
      return null;
  }
}

/** The relation, if a constraint guarantees that it leads to at most one row. */
export function uniqueRelation({ by }: RelatedRows): Relation | undefined {
  return by.kind === 'relation' && by.relation.kind === 'to-one' && by.relation.unique ? by.relation : undefined;
}

export function isAlwaysThere({ nullable }: Relation, keepsNotNull: boolean): boolean {
  return !nullable && keepsNotNull;
}
