/**
 * What one role sees of the database, and under which GraphQL names: plain, read-only, linked data. Each table is filled in on first use.
 * Built by `build-model.ts` from the catalog; read by `schema/`, `plan/` and `compile/`. No SQL and no GraphQL types here.
 */

import type { Placement, SessionEffects } from '../catalog/catalog.ts';
import type { Additions } from './additions.ts';
import type { SearchWeight } from './directives.ts';
import type { TypeSuffix } from './naming/graphql-names.ts';
import type { Routine } from './routine.ts';
import type { MeasuredInput, Metric } from './types/metrics.ts';
import type { MeasuredForm } from './types/postgres-types.ts';
import type { FilteredScalar } from './types/scalars.ts';
import type { TypeFilterName } from './types/type-filters.ts';
import type { DomainType, EnumType, ValueType } from './value-type.ts';

export interface Model {
  readonly role: string;
  /** The exposed schemas that exist and that the role may use, in the order of the setting. */
  readonly schemas: readonly string[];
  /** Those that the role may only insert into come last. */
  readonly tables: readonly Table[];
  /**
   * What has only a row type, without `nodeId`: tables and views without a key that computed fields return rows of, composite types, and
   * what functions return that have several columns.
   */
  readonly rowTypes: readonly Table[];
  readonly composites: readonly Table[];
  /** Tables whose rows are values as well, of columns and arguments of their type. */
  readonly rowValues: readonly Table[];
  /** Fields of Query that look up rows by unique keys other than `primaryKey`. */
  readonly lookups: readonly UniqueLookup[];
  /** Functions that are fields of Query or Mutation. Computed fields belong to their tables. */
  readonly routines: readonly Routine[];
  readonly enums: readonly EnumType[];
  readonly domains: readonly DomainType[];
  /** Whether introspection is enabled for any of the schemas. */
  readonly introspection: boolean;
  /** The name of the global row identifier, in rows, filters and the argument of `node`. */
  readonly nodeIdField: string;
  /** The name of the root type of subscriptions; null without that addition. */
  readonly subscriptionType: string | null;
  /** The names of the types of searches; null without that addition. */
  readonly searchTypes: Readonly<Record<'input' | 'mode' | 'config', string>> | null;
  /** The text search configurations by their names in GraphQL, as SQL. */
  readonly searchConfigs: ReadonlyMap<string, string>;
  /** What values of json and jsonb are in responses. */
  readonly json: 'string' | 'object';
  /** Whether scalars link to their specification (`@specifiedBy`). */
  readonly specifiesScalars: boolean;
  /** Whether filters have the operators that pg_graphql lacks. */
  readonly hasMoreOperators: boolean;
  /** Whether texts can be compared by their trigrams. */
  readonly hasTrigrams: boolean;
  /** The types of ranges, by the scalar of their bounds, if tables that have the addition use them. */
  readonly rangeTypes: ReadonlyMap<FilteredScalar, RangeTypeNames>;
  /** The names of the scalar of PostGIS's types, and of the input of a distance; null if no table that has the addition uses them. */
  readonly geoTypes: { readonly scalar: string; readonly near: string } | null;
  /** The filters of types that are Opaque, with their names, if tables that have the addition use them. */
  readonly typeFilters: ReadonlyMap<TypeFilterName, string>;
  /** The filters of arrays, by the name of the filter of their elements, for those that pg_graphql has none for. */
  readonly listFilters: ReadonlyMap<string, string>;
  /** The names of the input types of JSON; null without a JSON column of a table that has the addition. */
  readonly jsonTypes: JsonTypeNames | null;
  /** Whether tables may have vectors: the database has pgvector, and the addition is on. */
  readonly measuredInputs: ReadonlySet<MeasuredInput>;
  /** How many tables have been filled in, which take most of the memory. */
  readonly countBuilt: () => number;
}

export interface RangeTypeNames {
  readonly object: string;
  readonly input: string;
  readonly filter: string;
  readonly multirangeFilter: string;
}

export interface JsonTypeNames {
  readonly filter: string;
  /** A path of a filter. */
  readonly path: string;
  /** Changes of a part, and a path with the value to set there. */
  readonly change: string;
  readonly pathValue: string;
  /** What is at a path, to order and to group rows by, and as what. */
  readonly order: string;
  readonly group: string;
  readonly groupOrder: string;
  readonly valueType: string;
}

export type TableKind = 'table' | 'partitioned table' | 'view' | 'materialized view' | 'foreign table' | 'composite type';

/** A table, view, materialized view or foreign table; or a composite type, or what a function returns, which have only a row type. */
export interface Table {
  /** `pg_class.oid`. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: TableKind;
  readonly typeName: string;
  /** What the names of its root fields and other types start with: the name of the row type, or what that would be if it were free. */
  readonly stem: string;
  /** New names of types whose default names are taken. `tableTypeName` has the names of all. */
  readonly renamedTypes: ReadonlyMap<TypeSuffix, string>;
  readonly description: string | null;
  /** Columns with legal names that the role may select, insert or update, in table order. */
  readonly columns: readonly Column[];
  /** Key columns, including those that the role may not select, in the table's column order as in pg_graphql. Empty for a row type. */
  readonly primaryKey: readonly Column[];
  /** Whether Query has a field that looks up rows by key. */
  readonly hasLookup: boolean;
  /** Whether keys are guaranteed to be unique: not those of views or of tables that others inherit from. */
  readonly keyIsUnique: boolean;
  /** Whether keys are proven to lead to one row: those that are unique, and those of views that can be inferred. */
  readonly keyIsProven: boolean;
  /** Whether rows may have nulls in the key, of which equal ones are still the same: in views of groups and of single rows. */
  readonly keyTakesNulls: boolean;
  /** Whether NOT NULL holds for all rows: not in foreign tables or tables that others inherit from. */
  readonly keepsNotNull: boolean;
  /** Whether an insert writes every row or fails, because no trigger or rule can skip one. */
  readonly insertsEveryRow: boolean;
  /** Whether no trigger or rule runs before an insert has got its rows. */
  readonly insertsFirst: boolean;
  /** Sets of columns that identify a row if none is null: the primary key and unique indexes whose columns the role may select. */
  readonly uniqueKeys: readonly (readonly Column[])[];
  /** The arbiters that this role's inserts can name; empty without the addition. */
  readonly arbiters: readonly Arbiter[];
  readonly relations: readonly Relation[];
  /** Ancestors and descendants of a row, along the keys by which the table refers to itself; empty without the addition. */
  readonly lineages: readonly Lineage[];
  readonly referrers: readonly Table[];
  /** Computed fields: functions over the row type. */
  readonly computed: readonly Routine[];
  readonly rowSecurity: boolean;
  /** Whether PostgreSQL parses and plans queries on it in the same way for every role. */
  readonly roleIndependent: boolean;
  /** What queries on it may do beyond their transaction, and what writes may. */
  readonly readEffects: SessionEffects;
  readonly writeEffects: SessionEffects;
  /** How Citus distributes its rows; null if PostgreSQL alone has the table. */
  readonly placement: Placement | null;
  readonly maxRows: number;
  /** How often to evaluate subscriptions that read it, whatever changes, in milliseconds; null if only changes matter. */
  readonly liveRefresh: number | null;
  readonly totalCount: boolean;
  readonly aggregate: boolean;
  /**
   * Whether the role has the root fields: by its grants, and for views by what PostgreSQL allows. What is not selectable has only the
   * insert.
   */
  readonly selectable: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** Whether rows can be searched, which is known without building the table. */
  readonly isSearchable: boolean;
  readonly search: TableSearch | null;
  readonly additions: Additions;
  readonly introspection: boolean;
  /** Null for a table whose rows are no values of columns or arguments. */
  readonly composite: CompositeParts | null;
}

/** What a composite type, the shape of JSON, or the row type of a table has besides its object type. */
export interface CompositeParts {
  /**
   * The names of all its attributes, in the order in which PostgreSQL writes a value, also of those that are no fields; null for the shape
   * of JSON.
   */
  readonly attributes: readonly string[] | null;
  /** Whether anything leads to its object type. */
  readonly isRead: boolean;
  /** The name of the object type of a table's row as the value of a column or an attribute; null for others than tables. */
  readonly valueName: string | null;
  /** Whether it is what a function returns, whose columns with a table's row type have rows of the table. */
  readonly isResult: boolean;
  /** The names of its input type, and of the filters of a value and of an array; null for those to which nothing leads. */
  readonly inputName: string | null;
  readonly filterName: string | null;
  readonly listFilterName: string | null;
  /** The name of the input that orders rows by its attributes; null as that of its filter. */
  readonly orderName: string | null;
  /**
   * The names of the key of groups by its attributes, and of the inputs that group by them, by ranges of them, and order groups; null
   * without groups too.
   */
  readonly groupNames: Readonly<Record<'key' | 'by' | 'bucket' | 'order', string>> | null;
}

/** What a search of a table's rows looks at. */
export interface TableSearch {
  /** The name of a column of type tsvector; null if the texts of `parts` are searched. */
  readonly vector: string | null;
  readonly parts: readonly { readonly name: string; readonly weight: SearchWeight }[];
  /** The text search configuration as SQL reads a regconfig; null for PostgreSQL's setting `default_text_search_config`. */
  readonly config: string | null;
  /** The columns of text whose snippets rows can show. */
  readonly shown: readonly Column[];
}

/** A field of Query that looks up a row by columns with a unique index. */
export interface UniqueLookup {
  readonly fieldName: string;
  readonly table: Table;
  /** Names of columns of the table, in the order of the index. */
  readonly columns: readonly string[];
}

/** A unique index that an insert can name in `on conflict`. */
export interface Arbiter {
  /** Its name in the enum of the table's constraints. */
  readonly valueName: string;
  readonly description: string;
  readonly target:
    | { readonly kind: 'constraint'; readonly name: string /** Those of PostgreSQL. */; readonly columns: readonly string[] }
    /** The conflict target from which PostgreSQL infers the index, as SQL that PostgreSQL wrote. */
    | { readonly kind: 'index'; readonly elements: readonly string[]; readonly condition: string | null };
}

/** A column whose values have distances from others. */
export interface MeasuredColumn {
  readonly form: MeasuredForm;
  /** The type of values to measure from, without a length, as SQL. */
  readonly sqlType: string;
  /** What its values are cast to; null if they are measured as they are. */
  readonly castTo: string | null;
  /** Null if it has vectors of any dimension, or none. */
  readonly dimensions: number | null;
  /** The schema of the operators, as SQL. */
  readonly operatorSchema: string;
  /** That of its GiST indexes as SQL, null for the default; of vectors, what its name begins with: `public.vector` of `public.vector_l2_ops`. */
  readonly operatorClass: string | null;
  /** Whether HNSW takes vectors of so many dimensions. */
  readonly isIndexable: boolean;
  /** The metrics by which indexes find the nearest rows: in order, or, for IVFFlat, nearly so. */
  readonly indexed: ReadonlyMap<Metric, 'in order' | 'nearly'>;
  /** Whether scans of these indexes go on until enough rows match: since pgvector 0.8. */
  readonly scansOn: boolean;
}

export interface Column {
  readonly name: string;
  /** Its name in inserts, updates, orders, aggregates and lookups by key. */
  readonly fieldName: string;
  /** Its name in rows, which differs if another field has its plain name. */
  readonly rowFieldName: string;
  /** Its name in filters, which differs if it would clash with the global identifier. */
  readonly filterName: string;
  readonly description: string | null;
  readonly type: ValueType;
  readonly notNull: boolean;
  /** Whether writes reject null. Rows may contain null anyway, such as those of child tables. */
  readonly refusesNull: boolean;
  /** Whether it is the first key of an ordered index. */
  readonly leadsIndex: boolean;
  /** Whether all those indexes have its nulls at the non-default end: `desc nulls last` or `nulls first`. */
  readonly indexMovesNulls: boolean;
  /** What distances from its vectors need; null if it has none, or the role cannot use pgvector. */
  readonly measured: MeasuredColumn | null;
  /** Whether filters, orders and keys can compare it: not if the operators of its type are out of the role's reach. */
  readonly comparable: boolean;
  /** Whether rows can be ordered by it: not if it is an array, JSON or a composite, as in pg_graphql. */
  readonly orderable: boolean;
  readonly selectable: boolean;
  readonly insertable: boolean;
  readonly required: boolean;
  readonly updatable: boolean;
  /** Whether an insert that omits it stores null, unless a trigger fills it in. */
  readonly nullByDefault: boolean;
  /** The shape of JSON, if a directive gives it one. */
  readonly shape: ColumnShape | null;
}

/** JSON that is read as an object, or as a list of objects, with the members of `table`. */
export interface ColumnShape {
  readonly table: Table;
  readonly isList: boolean;
}

/** A foreign key seen from one of its tables. */
export interface Relation {
  readonly fieldName: string;
  readonly kind: 'to-one' | 'to-many';
  readonly target: Table;
  /** Whether the near table has the foreign key's columns. */
  readonly holdsKey: boolean;
  readonly columns: readonly ColumnPair[];
  readonly nullable: boolean;
  /** To-one: whether a constraint guarantees at most one row. False for keys declared by a directive. */
  readonly unique: boolean;
  /**
   * Whether only rows have it, not filters, orders and the like, because another relation covers it: it leads to one of many partitions, or
   * to the only row of a collection, by a key that a directive declares.
   */
  readonly onlyInRows: boolean;
  /** Whether it leads to the same row, in the table that a view shows or in the view, so that there is nothing to write. */
  readonly sameRow: boolean;
}

/** The rows above or below a row, at any distance along a key by which its table refers to itself. */
export interface Lineage {
  readonly fieldName: string;
  readonly direction: 'ancestors' | 'descendants';
  /** Leads from a row to the one above it, of which it has at most one. */
  readonly parent: Relation;
  /** The greatest distance. */
  readonly maxDepth: number;
  /** What statements call the distance of a row: a name that no column has. */
  readonly depthName: string;
}

/** A column of the near table and one of the target, by name. Related rows have equal values in them. */
export interface ColumnPair {
  readonly near: string;
  readonly nearType: ValueType;
  readonly target: string;
  readonly targetType: ValueType;
  /**
   * The collation of the referenced column, by which foreign keys compare, if the other column has a different one. `implied`: PostgreSQL
   * compares the two columns by it anyway.
   */
  readonly collation: { readonly sql: string; readonly implied: boolean } | null;
}
