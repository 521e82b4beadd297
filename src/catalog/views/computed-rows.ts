/** Infers the properties of rows that come from no table: of `values` lists, and of functions in a FROM clause. */
import { constantOf, isConstant, readsOf } from './expressions.ts';
import { asList, asNode, asNodes, numbersIn, type TreeNode } from './parse-node-tree.ts';
import { type KeyColumn, type Operators, type RowProperties, unknownProperties } from './row-properties.ts';

/** Of a `values` list. A column is unique in it if it has another constant in each row. */
export function valuesProperties(entry: TreeNode, operators: Operators, volatileFunctions: ReadonlySet<number>): RowProperties {
  const rows = asList(entry.fields.get('values_lists')).map(asNodes);
  const collations = numbersIn(entry, 'colcollations');
  const columns = numbersIn(entry, 'coltypes').map((type, index) => {
    const expressions = rows.map((row) => row[index]!);
    const constants = expressions.map(constantOf);
    return {
      ...{ type, collation: collations[index]!, constants: constants.every((constant) => constant !== null) ? new Set(constants) : null },
      isStable: expressions.every((expression) => isComputed(expression, volatileFunctions)),
      isNeverNull: expressions.every(isConstant),
    };
  });
  const unique = columns.flatMap(({ type, collation, constants }, index): KeyColumn[][] =>
    constants?.size === rows.length && operators.isExactType(type, collation)
      ? [[{ column: index + 1, family: operators.familyOfType(type) ?? 0, collation }]]
      : [],
  );
  const [key = null] = unique;
  return {
    ...{ key, unique, single: rows.length === 1, isSummary: false, originOf: () => null },
    isNeverNull: (column) => columns[column - 1]?.isNeverNull ?? false,
    isStable: (column) => columns[column - 1]?.isStable ?? false,
    constantsOf: (column) => columns[column - 1]?.constants ?? null,
    problem: key === null ? 'it lists values, and no column has another constant in each row' : null,
  };
}

/** Of functions. Nothing tells their rows from each other, but `distinct` may. */
export function functionProperties(entry: TreeNode, volatileFunctions: ReadonlySet<number>): RowProperties {
  const calls = asNodes(entry.fields.get('functions')).map(({ fields }) => asNode(fields.get('funcexpr')));
  const isStable = calls.every((call) => isComputed(call, volatileFunctions));
  return { ...unknownProperties('it is neither a table nor a query'), isStable: () => isStable };
}

/** Whether it reads no other item, and has the same value each time. */
function isComputed(expression: TreeNode | undefined, volatileFunctions: ReadonlySet<number>): boolean {
  return readsOf(expression, () => null, volatileFunctions) !== null;
}
