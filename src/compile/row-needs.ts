/** What SQL uses of the rows of a subselect. Found from the plan, before any SQL is written. */
import type { Column, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { OrderValue, RowPlan, RowValue } from '../plan/plan.ts';

export interface RowNeeds {
  /** The names of columns, in order of use. */
  readonly columns: readonly string[];
  /** Whether a function takes the whole row. */
  readonly row: boolean;
  /** Columns whose JSON is computed with the rows, once each. */
  readonly json: readonly Column[];
}

export const noNeeds: RowNeeds = { columns: [], row: false, json: [] };
const wholeRow: RowNeeds = { ...noNeeds, row: true };

/** The columns, without duplicates. */
export function needsOfColumns(names: readonly string[]): RowNeeds {
  return { ...noNeeds, columns: [...new Set(names)] };
}

/** Everything that is in any of the needs. */
export function allNeeds(needs: readonly RowNeeds[]): RowNeeds {
  return {
    columns: [...new Set(needs.flatMap(({ columns }) => columns))],
    row: needs.some(({ row }) => row),
    json: [...new Set(needs.flatMap(({ json }) => json))],
  };
}

/** What the JSON of a row needs. A column that is selected several times is written as JSON once. */
export function rowNeeds({ table, members }: RowPlan): RowNeeds {
  const columns = members.flatMap(({ value }) => (value.kind === 'column' ? [value.column] : []));
  const repeated = columns.filter((column, index) => columns.indexOf(column) < index);
  return allNeeds([...members.map(({ value }) => needsOfValue(value, table)), { ...noNeeds, json: repeated }]);
}

/** What the value of a field needs. */
export function needsOfValue(value: RowValue, table: Table): RowNeeds {
  switch (value.kind) {
    case 'type name':
      return noNeeds;
    case 'column':
    case 'row column':
      return needsOfColumns([value.column.name]);
    case 'node id':
      return needsOfColumns(table.primaryKey.map(({ name }) => name));
    case 'to-one':
    case 'to-many':
      return needsOfColumns(value.relation.columns.map(({ near }) => near));
    case 'computed':
      return wholeRow;
  }
}

/** What an order value needs that is written as an expression over the row. */
export function needsOfOrder(value: OrderValue): RowNeeds {
  switch (value.kind) {
    case 'column':
      return needsOfColumns([value.column.name]);
    case 'computed':
      return wholeRow;
    case 'related':
    case 'aggregate':
      return needsOfRelated(value.rows);
  }
}

function needsOfRelated({ by }: RelatedRows): RowNeeds {
  return by.kind === 'relation' ? needsOfColumns(by.relation.columns.map(({ near }) => near)) : wholeRow;
}
