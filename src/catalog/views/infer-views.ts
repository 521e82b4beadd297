/**
 * Infers the keys of views, and the origins of their columns, from their definitions, through all views that they read. The input is the
 * result of `viewQuery`.
 */
import type { CatalogForeignKey, CatalogTable, CatalogView, CatalogViewForeignKey } from '../catalog.ts';
import type { CatalogComments } from '../raw-catalog.ts';
import { combineProperties } from './combined-queries.ts';
import { functionProperties, valuesProperties } from './computed-rows.ts';
import { inferForeignKeys, inferSameRows, type ViewColumns } from './infer-foreign-keys.ts';
import { asList, asNode, asNodes, flagIn, numberIn, parseNodeTree, type TreeNode } from './parse-node-tree.ts';
import { type QueryItem, readQueryParts } from './query-parts.ts';
import {
  type ColumnOrigin,
  type GroupedBy,
  type InferredItem,
  inferProperties,
  type KeyColumn,
  type Operators,
  type QueryShape,
  type RowProperties,
  unknownProperties,
} from './row-properties.ts';
import type { RawViews } from './view-query.ts';

const entryKinds = { relation: 0, subquery: 1, function: 3, values: 5, cte: 6 };

type InferredView = CatalogView & ViewColumns;

export function* inferViews(raw: RawViews, columnCounts: ReadonlyMap<number, number>): Generator<void, ReadonlyMap<number, InferredView>> {
  const analysis = new Analysis(raw);
  const views = new Map<number, InferredView>();
  for (const [id, count] of columnCounts) {
    const { key, unique, isSummary, problem, originOf } = analysis.propertiesOf(id);
    const numbers = (columns: readonly KeyColumn[]) => columns.map(({ column }) => column);
    const origins = Array.from({ length: count }, (_, index) => originOf(index + 1));
    const keyMayBeNull = key?.some(({ mayBeNull }) => mayBeNull) ?? false;
    views.set(id, { key: key && numbers(key), keyMayBeNull, isSummary, problem, unique: unique.map(numbers), origins });
    yield;
  }
  return views;
}

class Analysis {
  readonly #definitions: ReadonlyMap<number, string>;
  readonly #relations: ReadonlyMap<number, { readonly kind: string; readonly hasChildren: boolean }>;
  readonly #indexes: ReadonlyMap<number, readonly { readonly primary: boolean; readonly columns: readonly KeyColumn[] }[]>;
  readonly #operators: Operators;
  readonly #notNull: ReadonlySet<string>;
  readonly #volatileFunctions: ReadonlySet<number>;
  readonly #ofRelations = new Map<number, RowProperties>();
  /** Queries in WITH may be read many times. */
  readonly #ofCtes = new Map<TreeNode, RowProperties>();

  constructor(raw: RawViews) {
    const familyOf = new Map(raw.families.map(({ operatorClass, family }) => [operatorClass, family]));
    this.#definitions = new Map(raw.definitions.map(({ viewId, tree }) => [viewId, tree]));
    this.#relations = new Map(raw.relations.map((relation) => [relation.id, relation]));
    const keys = raw.indexes.map(({ tableId, primary, keyCount, columns, classes, collations }) => ({
      tableId,
      primary,
      columns: columns
        .slice(0, keyCount)
        .map((column, index): KeyColumn => ({ column, family: familyOf.get(classes[index]!) ?? 0, collation: collations[index]! })),
    }));
    this.#indexes = Map.groupBy(keys, ({ tableId }) => tableId);
    this.#operators = operatorsOf(raw);
    this.#volatileFunctions = new Set(raw.volatileFunctions.map(({ id }) => id));
    this.#notNull = new Set(raw.notNull.map(({ tableId, column }) => `${tableId} ${column}`));
  }

  propertiesOf(id: number): RowProperties {
    const cached = this.#ofRelations.get(id);
    if (cached !== undefined) return cached;
    const properties = this.#inferRelation(id);
    this.#ofRelations.set(id, properties);
    return properties;
  }

  #inferRelation(id: number): RowProperties {
    const relation = this.#relations.get(id);
    if (relation === undefined) return unknownProperties('its keys are unknown');
    if (relation.kind === 'r' || relation.kind === 'p') return this.#tableProperties(id, relation.hasChildren);
    const definition = this.#definitions.get(id);
    if (definition === undefined) return unknownProperties('its definition is too long');
    try {
      const [query] = asNodes(parseNodeTree(definition));
      return this.#queryProperties(query, []);
    } catch {
      return unknownProperties('this version of rowgraph cannot read its definition');
    }
  }

  #tableProperties(tableId: number, hasChildren: boolean): RowProperties {
    const indexes = this.#indexes.get(tableId) ?? [];
    const primary = indexes.find((index) => index.primary);
    const originOf = (column: number): ColumnOrigin => ({ path: '', tableId, column });
    const isStable = (): boolean => true;
    // Queries on it return the rows of child tables too, but its indexes do not cover them.
    if (hasChildren) return { ...unknownProperties('other tables inherit from it'), originOf, isStable };
    const unique = indexes.map(({ columns }) => columns);
    const isNeverNull = (column: number): boolean => this.#notNull.has(`${tableId} ${column}`);
    const problem = primary === undefined ? 'it has no primary key, or only a deferrable one' : null;
    const constantsOf = () => null;
    return {
      key: primary?.columns ?? null,
      unique,
      single: false,
      isSummary: false,
      originOf,
      isNeverNull,
      isStable,
      constantsOf,
      problem,
    };
  }

  /** `outer` are the WITH queries of enclosing queries. */
  #queryProperties(query: TreeNode | undefined, outer: Scopes): RowProperties {
    if (query?.type !== 'QUERY') throw new Error('it is not a query');
    const scopes = [...outer, asNodes(query.fields.get('cteList'))];
    const operation = asNode(query.fields.get('setOperations'));
    if (operation !== undefined) {
      const entries = asNodes(query.fields.get('rtable'));
      return combineProperties(operation, entries, (entry) => this.#entryProperties(entry, scopes), this.#operators);
    }
    const parts = readQueryParts(query, this.#volatileFunctions);
    const items = parts.items.map((item) => this.#inferItem(item, scopes));
    return inferProperties(parts, shapeOf(query), items, this.#operators);
  }

  #inferItem({ position, entry, nullable, nulledBy }: QueryItem, scopes: Scopes): InferredItem {
    const alias = asNode(entry.fields.get('eref'))?.fields.get('aliasname');
    const name = typeof alias === 'string' ? alias : 'a part of its from clause';
    const dependent = flagIn(entry, 'lateral');
    return { position, name, nullable, nulledBy, dependent, properties: this.#entryProperties(entry, scopes) };
  }

  #entryProperties(entry: TreeNode, scopes: Scopes): RowProperties {
    switch (numberIn(entry, 'rtekind')) {
      case entryKinds.relation:
        return this.propertiesOf(numberIn(entry, 'relid'));
      case entryKinds.subquery:
        return this.#queryProperties(asNode(entry.fields.get('subquery')), scopes);
      case entryKinds.cte:
        return this.#cteProperties(entry, scopes.slice(0, scopes.length - numberIn(entry, 'ctelevelsup')));
      case entryKinds.values:
        return valuesProperties(entry, this.#operators, this.#volatileFunctions);
      case entryKinds.function:
        return functionProperties(entry, this.#volatileFunctions);
      default:
        return unknownProperties('it is neither a table nor a query');
    }
  }

  /** The last of `scopes` defines the name. */
  #cteProperties({ fields }: TreeNode, scopes: Scopes): RowProperties {
    const named = scopes.at(-1)?.find((candidate) => candidate.fields.get('ctename') === fields.get('ctename'));
    if (named === undefined) throw new Error('nothing has this name');
    if (flagIn(named, 'cterecursive')) return unknownProperties('it is a recursive query');
    const properties = this.#ofCtes.get(named) ?? this.#queryProperties(asNode(named.fields.get('ctequery')), scopes);
    this.#ofCtes.set(named, properties);
    return properties;
  }
}

/** The WITH queries of each enclosing query, outermost first. */
type Scopes = readonly (readonly TreeNode[])[];

/** `varchar`, which has no operators of its own, `text`, which has them for it, and `bpchar`. */
const [varcharType, textType, bpcharType] = [1043, 25, 1042];
/** The operator `=` of `bpchar`, which ignores trailing spaces, and that of `numeric`, which ignores trailing zeros. */
const bpcharEquality = 1054;
const numericEquality = 1752;

function operatorsOf({ families, equalities, exactFamilies, looseCollations, ownTypes }: RawViews): Operators {
  const ofTypes = new Map(families.filter(({ isDefault }) => isDefault).map(({ type, family }) => [type, family]));
  const ofOwnTypes = new Map(ownTypes.map((own) => [own.id, own]));
  const familiesOf = Map.groupBy(equalities, ({ operator }) => operator);
  const exact = new Set(exactFamilies.map(({ id }) => id));
  const loose = new Set(looseCollations.map(({ id }) => id));
  const familiesIn = (operator: number): readonly number[] => (familiesOf.get(operator) ?? []).map(({ family }) => family);
  const baseOf = (type: number): number => {
    const own = ofOwnTypes.get(type);
    return own?.kind === 'd' ? baseOf(own.baseId) : type === varcharType ? textType : type;
  };
  const familyOfType = (type: number): number | undefined => ofTypes.get(ofOwnTypes.get(baseOf(type))?.baseId ?? baseOf(type));
  return {
    ...{ baseOf, familyOfType },
    isExactType: (type, collation) => baseOf(type) !== bpcharType && exact.has(familyOfType(type) ?? 0) && !loose.has(collation),
    isEquality: (operator, family) => familiesIn(operator).includes(family),
    familyOf: (operator) => familiesIn(operator)[0],
    isExact: (operator, { collation, modifier }) => {
      // Only a length pads all values of `bpchar` alike, and only a scale all numbers.
      if (operator === numericEquality) return modifier >= 0;
      if (operator === bpcharEquality && modifier < 0) return false;
      return familiesIn(operator).some((family) => exact.has(family)) && !loose.has(collation);
    },
  };
}

function shapeOf(query: TreeNode): QueryShape {
  const { fields } = query;
  const clauseOf = (label: string): readonly GroupedBy[] | null => {
    const clauses = asNodes(fields.get(label));
    if (clauses.length === 0) return null;
    return clauses.map((clause) => ({ reference: numberIn(clause, 'tleSortGroupRef'), operator: numberIn(clause, 'eqop') }));
  };
  return {
    aggregates: flagIn(query, 'hasAggs') || asNode(fields.get('havingQual')) !== undefined,
    groupingSets: asList(fields.get('groupingSets')).length > 0,
    returnsSets: flagIn(query, 'hasTargetSRFs'),
    groups: clauseOf('groupClause'),
    distinct: clauseOf('distinctClause'),
  };
}

interface InferredViews {
  readonly views: ReadonlyMap<number, CatalogView>;
  readonly viewForeignKeys: readonly CatalogViewForeignKey[];
}

export function* assembleViews(
  raw: RawViews | null,
  tables: readonly CatalogTable[],
  foreignKeys: readonly CatalogForeignKey[],
  comments: CatalogComments,
): Generator<void, InferredViews> {
  if (raw === null) return { views: new Map(), viewForeignKeys: [] };
  const views = yield* inferViews(raw, new Map(tables.filter(isView).map(({ id, columns }) => [id, columns.length])));
  const ids = new Set(foreignKeys.map(({ id }) => id));
  const ownerOf = new Map(raw.foreignKeys.map(({ id, tableId }) => [id, tableId]));
  // PostgreSQL copies a foreign key that refers to a partitioned table for each of its partitions. The copies add nothing.
  const more = raw.foreignKeys.filter(({ id, tableId, parentId }) => !ids.has(id) && ownerOf.get(parentId) !== tableId);
  const keys = more.map((key) => ({ ...key, comment: comments.on('constraint', key.id) }));
  const all = [...foreignKeys, ...keys].sort((one, other) => one.id - other.id);
  const ofConstraints = yield* inferForeignKeys(all, views, new Set(tables.map(({ id }) => id)));
  return { views, viewForeignKeys: [...ofConstraints, ...(yield* inferSameRows(tables, views))] };
}

export function isView({ kind }: Pick<CatalogTable, 'kind'>): boolean {
  return kind === 'v' || kind === 'm';
}
