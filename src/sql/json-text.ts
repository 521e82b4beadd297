/**
 * JSON that a statement builds as text: `pg_catalog.concat('{"id":', id, ',"name":', to_json(name), '}')`. This is faster than
 * `json_build_object` and than a chain of `||` (docs/decisions/json.md).
 */
import { beginsWith, join, literal, newLine, type Sql, sql } from './sql.ts';

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

/** A JSON object with these members. */
export function jsonObject(members: readonly { readonly key: JsonKey; readonly value: JsonText }[]): JsonText {
  const pieces: (string | Sql)[] = ['{'];
  members.forEach(({ key, value }, index) => {
    const before = index > 0 ? ',' : '';
    pieces.push(typeof key === 'string' ? `${before}${JSON.stringify(key)}:` : key(before), ...value);
  });
  pieces.push('}');
  return pieces;
}

/** The most arguments that a function call takes (manual: Preset Options, max_function_args). */
const maxArguments = 100;

/** The pieces as one expression, of type text; a single fragment keeps its type. */
export function concatenate(pieces: JsonText): Sql {
  return concatenateAll(operandsOf(pieces));
}

function concatenateAll(operands: readonly Sql[]): Sql {
  if (operands.length <= maxArguments) return call(operands);
  const groups: Sql[] = [];
  for (let start = 0; start < operands.length; start += maxArguments) groups.push(call(operands.slice(start, start + maxArguments)));
  return concatenateAll(groups);
}

/** Calls with more arguments put each piece of literal JSON on its own line, together with the value that follows. */
const maxOneLineArguments = 3;

/** Qualified, because a user's function that takes text would be a better match than the built-in, which takes `"any"`. */
function call(operands: readonly Sql[]): Sql {
  if (operands.length === 1) return operands[0]!;
  if (operands.length <= maxOneLineArguments) return sql`pg_catalog.concat(${join(operands, ', ')})`;
  const lines: Sql[][] = [];
  for (const operand of operands) {
    const isText = beginsWith(operand, /^E?'/);
    const line = lines.at(-1);
    if (line && !isText) line.push(operand);
    else lines.push([operand]);
  }
  const written = lines.map((line) => join(line, ', '));
  return sql`pg_catalog.concat(${join(written, sql`,${newLine}`)})`;
}

/** Merges adjacent strings into one literal. */
function operandsOf(pieces: JsonText): Sql[] {
  const operands: Sql[] = [];
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    if (text !== '') operands.push(literal(text));
    text = '';
    operands.push(piece);
  }
  if (text !== '' || operands.length === 0) operands.push(literal(text));
  return operands;
}
