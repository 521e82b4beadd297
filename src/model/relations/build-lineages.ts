/** The lineages of a table: for each key by which it refers to itself, the rows above and below a row. */
import { type BuildContext, Excluded, type Mutable, type Notes } from '../build-context.ts';
import { readMaximum } from '../directives.ts';
import type { Lineage } from '../model.ts';
import { isFreeName, numbered, qualifiedFieldName } from '../naming/names.ts';
import type { LazyTable } from '../tables/lazy-table.ts';
import type { NamedRelation } from './build-relations.ts';

/** A lineage before its name in rows is settled. */
export interface NamedLineage {
  readonly lineage: Mutable<Lineage>;
  /** The name of the key. */
  readonly name: string;
  /** Its name in rows if `fieldName` is taken; null if a directive gave it. */
  readonly qualified: string;
}

const directions = ['ancestors', 'descendants'] as const;

/**
 * Builds the lineages along keys that are certain to lead to at most one row: rows could otherwise be reached in very many ways.
 * A directive names them. Otherwise they are called `ancestors` and `descendants`, followed by the columns if there are several keys.
 */
export function buildLineages(table: LazyTable, relations: readonly NamedRelation[]): NamedLineage[] {
  return allLineages(table, relations).filter(hasLegalName);
}

/** Reports those that are left out because a directive gives them names that GraphQL forbids. */
export function* noteLineages({ tables }: BuildContext, { exclusions }: Notes, relationsOf: RelationsOf): Generator<void, void> {
  for (const table of tables.values()) {
    if (!table.additions.has('recursiveRelations')) continue;
    for (const { lineage, name } of allLineages(table, relationsOf(table)).filter((each) => !hasLegalName(each))) {
      const problem = `"${lineage.fieldName}" is not a valid GraphQL name for a field of ${table.schema}.${table.name}`;
      const reason = `${problem}; choose another with {"${lineage.direction}_name": "..."} in the comment directive`;
      exclusions.push({ object: 'relation', id: table.id, name, ...new Excluded('illegal-name', reason) });
    }
    yield;
  }
}

type RelationsOf = (table: LazyTable) => readonly NamedRelation[];

function hasLegalName({ lineage }: NamedLineage): boolean {
  return isFreeName(lineage.fieldName);
}

function allLineages(table: LazyTable, relations: readonly NamedRelation[]): NamedLineage[] {
  const { additions, traits } = table;
  if (!additions.has('recursiveRelations') || traits.key === null) return [];
  const keys = relations.filter(
    ({ relation, key }) =>
      relation.holdsKey && (relation.unique || key.inferred) && key.target === table && !key.toPartition && !key.sameRow,
  );
  const byColumns = new Map(keys.toReversed().map((each) => [columnsOf(each), each]));
  const maxDepth = readMaximum(traits.directive, 'max_depth') ?? traits.schema.maxDepth;
  const depthName = numbered('(depth)', (name) => !traits.catalogTable.columns.some((column) => column.name === name));
  return [...byColumns.values()].reverse().flatMap(({ relation, key }) =>
    directions.flatMap((direction): NamedLineage[] => {
      const own = key.lineageNames[direction];
      const qualified = legalOr(
        direction,
        qualifiedFieldName(
          direction,
          relation.columns.map(({ near }) => near),
          traits.schema.inflection,
        ),
      );
      const fieldName = own ?? (byColumns.size > 1 ? qualified : direction);
      return [{ lineage: { fieldName, direction, parent: relation, maxDepth, depthName }, name: key.name, qualified }];
    }),
  );
}

function columnsOf({ relation }: NamedRelation): string {
  return JSON.stringify(relation.columns.map(({ near, target }) => [near, target]));
}

/** A column's name may be illegal in GraphQL. */
function legalOr(name: string, qualified: string): string {
  return isFreeName(qualified) ? qualified : name;
}
