/** The types of values, as columns, arguments and results have them. Plain, read-only data, as all of the model. */
import type { Table } from './model.ts';
import type { PostgresType } from './types/postgres-types.ts';
import type { FilteredScalar, ScalarName } from './types/scalars.ts';

export type ValueType = ScalarType | EnumValueType | ListType | RowType | RowListType | CompositeType | UnsupportedType;

export interface ScalarType {
  readonly kind: 'scalar';
  readonly scalar: ScalarName;
  /** The type as SQL for a cast, quoted and qualified as needed: `numeric(14,4)`, `public."Mood"` (`pg_catalog.format_type`). */
  readonly sqlType: string;
  /** `pg_type.typname`: `int4`, `timestamptz`, `numeric`, … For a domain, its own name. */
  readonly typeName: string;
  /** What the type can do. For a domain, what its base type can if it has a scalar of its own, otherwise what types without a row can. */
  readonly traits: PostgresType;
  /** Set for a domain with a scalar of its own. Its values are written to JSON as those of Opaque. */
  readonly domain?: DomainType;
  /** Maximum length of varchar(n) and char(n), in characters. */
  readonly maxLength: number | null;
  /** Set for json and jsonb if their values are the JSON itself, and not its text. */
  readonly isBareJson?: true;
  /** Set if its JSON may be an object or array, as for hstore, PostGIS' geometry, and domains over jsonb or a composite type. */
  readonly nestsInJson?: true;
  /** Set for a range or a multirange whose bounds are scalars or enums. */
  readonly range?: RangeType;
  /** Set for a domain over a composite type. */
  readonly composite?: true;
  /**
   * For a domain, the type that updates write its values as: PostgreSQL then checks the domain for each row, not once for the value, so
   * that an update of no row does not fail. Absent if the role may lack the privilege to name the type.
   */
  readonly writtenAs?: string;
  /** For a domain over an enum, the enum as SQL: PostgreSQL has comparison operators for the enum, not the domain. */
  readonly comparedAs?: string;
  /** Set if its ordering operators have names other than `<`. */
  readonly oddlyOrdered?: true;
  /** Set if PostgreSQL cannot order its values, as for json, point and domains over them. */
  readonly unordered?: true;
  /** Of a text, the schema of the operators of pg_trgm as SQL, if the role can use them. */
  readonly trigrams?: string;
  /** Of a column of PostGIS's geometry, the SRID that all its values have. */
  readonly srid?: number;
  /** What separates its values in the text of an array, if it is not a comma. */
  readonly delimiter?: string;
  /** Set if the role may not use the schema of the type, so that its statements cannot name it. */
  readonly unnameable?: true;
}

export interface RangeType {
  /** The type of its bounds. */
  readonly bound: ScalarType | EnumValueType;
  /** The scalar that its bounds have in GraphQL. */
  readonly scalar: FilteredScalar;
  /** Whether it is a multirange: several ranges. */
  readonly isMulti: boolean;
}

/** A domain that is a scalar of its own. */
export interface DomainType {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly typeName: string;
  readonly description: string;
  /** The type that it is based on in the end, as which its values are compared. */
  readonly base: ScalarType | EnumValueType;
  readonly introspection: boolean;
}

export interface EnumValueType {
  readonly kind: 'enum';
  readonly enum: EnumType;
  readonly sqlType: string;
  readonly unnameable?: true;
}

export interface ListType {
  readonly kind: 'list';
  readonly element: ScalarType | EnumValueType;
  readonly sqlType: string;
  /** Set for int2vector and oidvector, which PostgreSQL does not write as arrays. */
  readonly isVector?: true;
  readonly unnameable?: true;
  /** The name of a domain over an array. */
  readonly domainName?: string;
  /** For such a domain, the type that updates write its values as, as for a scalar. */
  readonly writtenAs?: string;
  /** Set if an extension has operators for the type that the role may not use, so that the built-in ones must be named. */
  readonly builtInOperators?: true;
}

/** A row of a table in the API, or a value of a composite type. */
export interface RowType {
  readonly kind: 'row';
  readonly table: Table;
  readonly sqlType: string;
  readonly unnameable?: true;
  /** For a domain, its name, and the type that updates write its values as, as for a scalar. */
  readonly domainName?: string;
  readonly writtenAs?: string;
}
export interface RowListType {
  readonly kind: 'row list';
  readonly table: Table;
  readonly sqlType: string;
  readonly unnameable?: true;
  readonly domainName?: string;
  readonly writtenAs?: string;
  /** The name of the domain that its elements have. */
  readonly elementDomain?: string;
}

/** A composite type that is not an object, nor the row type of a table in the API. No field can have it, but key columns can. */
export interface CompositeType {
  readonly kind: 'composite';
  readonly sqlType: string;
  readonly unnameable?: true;
}

/** An array of a composite type, or a domain over an array. No field can have it, but rows may be ordered by it. */
export interface UnsupportedType {
  readonly kind: 'unsupported';
  readonly sqlType: string;
  readonly unnameable?: true;
}

export interface EnumType {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly typeName: string;
  readonly description: string | null;
  /**
   * In declared order. `name` is the GraphQL name: from the directive's mappings, or the label. If two labels have the same name, both are
   * read under it, and the first is the one written.
   */
  readonly values: readonly EnumValue[];
  readonly mapped: boolean;
  /** Whether lists of it have a filter. */
  readonly filtersLists: boolean;
  readonly introspection: boolean;
}
export interface EnumValue {
  readonly name: string;
  readonly label: string;
}
