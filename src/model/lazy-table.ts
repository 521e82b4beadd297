/**
 * A table whose columns, relations and computed fields are built on first use, because a request needs only a few of thousands of tables.
 * `TableFacts`, which do not depend on other tables, are shared by all roles with the same privileges on the table.
 */
import type { SessionEffects } from '../catalog/effects/find-effects.ts';
import type { Arbiter, Column, Relation, Routine, Table } from './model.ts';
import type { TableFacts } from './table-facts.ts';
import type { TableNames } from './taken-names.ts';

/** The parts of a table that are built on first use. */
export type TableParts = Pick<Table, 'columns' | 'primaryKey' | 'uniqueKeys' | 'arbiters' | 'relations' | 'computed'>;

/** Builds parts of a table on first use. */
export interface TableBuilder {
  buildParts(table: LazyTable): TableParts;
  findReferrers(table: LazyTable): readonly Table[];
  hasLookup(table: LazyTable): boolean;
}

const noneRenamed: TableNames['renamedTypes'] = new Map();

export class LazyTable implements Table {
  readonly facts: TableFacts;
  readonly #builder: TableBuilder;
  #parts: TableParts | null = null;
  #referrers: readonly Table[] | null = null;
  typeName: string;
  stem: string;
  renamedTypes = noneRenamed;

  constructor(facts: TableFacts, builder: TableBuilder) {
    this.facts = facts;
    this.#builder = builder;
    this.typeName = facts.plainName.name;
    this.stem = facts.plainName.name;
  }

  get id(): number {
    return this.facts.source.id;
  }

  get schema(): string {
    return this.facts.schema.name;
  }

  get name(): string {
    return this.facts.source.name;
  }

  get kind(): Table['kind'] {
    return this.facts.kind;
  }

  get description(): string | null {
    return this.facts.description;
  }

  get columns(): readonly Column[] {
    return this.#built.columns;
  }

  get primaryKey(): readonly Column[] {
    return this.#built.primaryKey;
  }

  /** Found without building the table, because listing the fields of Query asks every table. */
  get hasLookup(): boolean {
    return this.#builder.hasLookup(this);
  }

  get keyIsUnique(): boolean {
    return this.facts.keyIsUnique;
  }

  get keyIsProven(): boolean {
    return this.facts.keyIsProven;
  }

  get keepsNotNull(): boolean {
    return this.facts.keepsNotNull;
  }

  get insertsEveryRow(): boolean {
    return this.facts.insertsEveryRow;
  }

  get insertsFirst(): boolean {
    return this.facts.insertsFirst;
  }

  get uniqueKeys(): Table['uniqueKeys'] {
    return this.#built.uniqueKeys;
  }

  get arbiters(): readonly Arbiter[] {
    return this.#built.arbiters;
  }

  get relations(): readonly Relation[] {
    return this.#built.relations;
  }

  get referrers(): readonly Table[] {
    this.#referrers ??= this.#builder.findReferrers(this);
    return this.#referrers;
  }

  get computed(): readonly Routine[] {
    return this.#built.computed;
  }

  get rowSecurity(): boolean {
    return this.facts.rowSecurity;
  }

  get roleIndependent(): boolean {
    return this.facts.roleIndependent;
  }

  get readEffects(): SessionEffects {
    return this.facts.readEffects;
  }

  get writeEffects(): SessionEffects {
    return this.facts.writeEffects;
  }

  get maxRows(): number {
    return this.facts.maxRows;
  }

  get totalCount(): boolean {
    return this.facts.totalCount;
  }

  get aggregate(): boolean {
    return this.facts.aggregate;
  }

  get selectable(): boolean {
    return this.facts.selectable;
  }

  get insertable(): boolean {
    return this.facts.insertable;
  }

  get updatable(): boolean {
    return this.facts.updatable;
  }

  get deletable(): boolean {
    return this.facts.deletable;
  }

  get additions(): Table['additions'] {
    return this.facts.additions;
  }

  get introspection(): boolean {
    return this.facts.schema.introspection;
  }

  get #built(): TableParts {
    this.#parts ??= this.#builder.buildParts(this);
    return this.#parts;
  }
}
