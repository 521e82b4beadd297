/** The order values of a page's rows, as columns of the subselect that reads them. It returns only those that the SQL around it uses. */
import type { OrderValue } from '../../plan/plan.ts';
import { identifier, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { DerivedScope } from '../scope.ts';
import { identityOf, type OrderValues } from './order-values.ts';

export class PageValues implements OrderValues {
  readonly #scope: DerivedScope;
  /** Values that are not columns, with the names of their outputs, by identity. */
  readonly #outputs = new Map<string, { readonly value: OrderValue; readonly name: Sql }>();

  constructor(scope: DerivedScope) {
    this.#scope = scope;
  }

  sqlOf(value: OrderValue): Sql {
    if (value.kind === 'column') return this.#scope.column(value.column.name);
    const identity = identityOf(value);
    const name = this.#outputs.get(identity)?.name ?? identifier(this.#scope.freeName(`(order ${this.#outputs.size + 1})`));
    this.#outputs.set(identity, { value, name });
    return sql`${trusted(this.#scope.alias)}.${name}`;
  }

  isNeverNull(value: OrderValue): boolean {
    if (value.kind === 'column') return this.#scope.isNeverNull(value.column);
    return value.kind === 'aggregate' && value.function === 'count';
  }

  /** The outputs for the select list; `inner` has their SQL inside the subselect. Must be called last. */
  outputs(inner: OrderValues): Sql[] {
    return [...this.#outputs.values()].map(({ value, name }) => sql`${inner.sqlOf(value)} as ${name}`);
  }
}
