/** The input of the doctor's examinations, with the names of objects: plain for messages, as SQL for remedies. */
import type { Catalog, CatalogFunction, CatalogTable } from '../catalog/catalog.ts';
import type { Table } from '../model/model.ts';
import { qualifiedName } from '../model/naming/names.ts';
import type { ReportedModel } from '../model/report.ts';
import type { Safety } from './safety.ts';

export class Examination {
  readonly catalog: Catalog;
  readonly model: ReportedModel;
  readonly safety: Safety;
  readonly #schemaNames: ReadonlyMap<number, string>;
  readonly #catalogTables: ReadonlyMap<number, CatalogTable>;
  readonly #tables: ReadonlyMap<number, Table>;

  constructor(catalog: Catalog, model: ReportedModel, safety: Safety) {
    this.catalog = catalog;
    this.model = model;
    this.safety = safety;
    this.#schemaNames = new Map(catalog.schemas.map(({ id, name }) => [id, name]));
    this.#catalogTables = new Map(catalog.tables.map((table) => [table.id, table]));
    this.#tables = new Map(model.tables.map((table) => [table.id, table]));
  }

  catalogTable(id: number): CatalogTable | undefined {
    return this.#catalogTables.get(id);
  }

  /** Undefined if the API has no such table. */
  table(id: number): Table | undefined {
    return this.#tables.get(id);
  }

  /** `public.account`, for messages. */
  name({ schemaId, name }: CatalogTable): string {
    return qualifiedName(this.#schemaNames.get(schemaId) ?? '', name);
  }

  quote(name: string): string {
    return this.safety.quotedNames.get(name) ?? name;
  }

  /** `public.account` as SQL. */
  tableSql({ schemaId, name }: CatalogTable): string {
    return `${this.quote(this.#schemaNames.get(schemaId) ?? '')}.${this.quote(name)}`;
  }

  /** `routine public.total(integer)` as SQL, for grants and revokes. */
  routineSql({ schema, name, kind, arguments: args }: CatalogFunction): string {
    const types = args.map(({ typeId }) => this.catalog.types.get(typeId)?.sql ?? '');
    return `${kind === 'f' ? 'function' : 'routine'} ${this.quote(schema)}.${this.quote(name)}(${types.join(', ')})`;
  }

  get roleSql(): string {
    return this.quote(this.model.role);
  }
}

/** `public.account`, for messages. */
export function nameOf({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return qualifiedName(schema, name);
}

/** A list in prose: `insert, update and delete`. */
export function inWords(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
