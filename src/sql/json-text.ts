/**
 * JSON that a statement builds as text: `pg_catalog.concat('{"id":', id, ',"name":', to_json(name), '}')`. This is faster than
 * `json_build_object` and than a chain of `||` (docs/decisions.md).
 */
import { and, coalesce, list } from './clauses.ts';
import { builtIn, join, literal, newLine, type Sql, sql } from './sql.ts';

/**
 * Pieces of JSON, in order. A string is literal JSON. A fragment is an expression of any type whose text is JSON; it must never be null,
 * because `concat` skips nulls.
 */
export type JsonText = readonly (string | Sql)[];

/**
 * The key of a member: a name, or a function that returns the fragment that yields `"name":`, including the comma before it, if any. A
 * separate piece for each comma would cost PostgreSQL as much as a value.
 */
export type JsonKey = string | ((before: '' | ',') => Sql);

export function jsonObject(members: readonly { readonly key: JsonKey; readonly value: JsonText }[]): JsonText {
  const pieces: (string | Sql)[] = ['{'];
  members.forEach(({ key, value }, index) => {
    const before = index > 0 ? ',' : '';
    pieces.push(typeof key === 'string' ? `${before}${JSON.stringify(key)}:` : key(before), ...value);
  });
  pieces.push('}');
  return pieces;
}

/** The JSON of all rows, separated by commas; empty text if there are none. */
export function jsonRows(json: Sql, orderBy: readonly Sql[] = [], conditions: readonly Sql[] = []): Sql {
  const order = orderBy.length > 0 ? sql` order by ${list(orderBy)}` : sql``;
  const filter = conditions.length > 0 ? sql` filter (where ${and(conditions)})` : sql``;
  return coalesce(sql`${builtIn('string_agg', json, sql`','${order}`)}${filter}`, literal(''));
}

/** The most arguments that a function call takes (manual: Preset Options, max_function_args). */
const maxArguments = 100;

/** The pieces as one expression, of type text; a single fragment keeps its type. */
export function concatenate(pieces: JsonText): Sql {
  return concatenateAll(operandsOf(pieces));
}

interface Operand {
  readonly sql: Sql;
  /** Whether it is literal JSON, which begins a line of a long call. */
  readonly isLiteral: boolean;
}

function concatenateAll(operands: readonly Operand[]): Sql {
  if (operands.length <= maxArguments) return call(operands);
  const groups: Operand[] = [];
  for (let start = 0; start < operands.length; start += maxArguments)
    groups.push({ sql: call(operands.slice(start, start + maxArguments)), isLiteral: false });
  return concatenateAll(groups);
}

/** Calls with more arguments put each piece of literal JSON on its own line, together with the value that follows. */
const maxOneLineArguments = 3;

function call(operands: readonly Operand[]): Sql {
  if (operands.length === 1) return operands[0]!.sql;
  const lines: Sql[][] = [[]];
  for (const { sql: written, isLiteral } of operands) {
    if (isLiteral && operands.length > maxOneLineArguments && lines[0]!.length > 0) lines.push([]);
    lines.at(-1)!.push(written);
  }
  return builtIn(
    'concat',
    join(
      lines.map((line) => join(line, ', ')),
      sql`,${newLine}`,
    ),
  );
}

/** Merges adjacent strings into one literal. */
function operandsOf(pieces: JsonText): Operand[] {
  const operands: Operand[] = [];
  let text = '';
  const endText = (): void => {
    if (text !== '') operands.push({ sql: literal(text), isLiteral: true });
    text = '';
  };
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      endText();
      operands.push({ sql: piece, isLiteral: false });
    }
  }
  endText();
  return operands.length > 0 ? operands : [{ sql: literal(''), isLiteral: true }];
}
