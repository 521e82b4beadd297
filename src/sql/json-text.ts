/**
 * JSON that a statement builds as text: `pg_catalog.concat('{"id":', id, ',"name":', to_json(name), '}')`. That is faster than
 * `json_build_object`, and than a chain of `||` (docs/decisions/json.md).
 */
import { beginsWith, join, literal, newLine, type Sql, sql } from './sql.ts';

/**
 * Pieces in order: a string is JSON text as it stands, a fragment is an expression of any type that PostgreSQL writes as JSON, and never null:
 * `concat` leaves out what is.
 */
export type JsonText = readonly (string | Sql)[];

/**
 * The key of a member: a name, or what makes the fragment that yields `"name":`, with the comma ahead of it where there is one. A piece
 * of its own for each comma would be as much work for PostgreSQL as a value.
 */
export type JsonKey = string | ((before: '' | ',') => Sql);

/** `{` members `}`, each a key with its value. */
export function jsonObject(members: readonly { readonly key: JsonKey; readonly value: JsonText }[]): JsonText {
  const pieces: (string | Sql)[] = ['{'];
  members.forEach(({ key, value }, index) => {
    const before = index > 0 ? ',' : '';
    pieces.push(typeof key === 'string' ? `${before}${JSON.stringify(key)}:` : key(before), ...value);
  });
  pieces.push('}');
  return pieces;
}

/** How many arguments a call takes (manual: Preset Options, max_function_args). */
const mostArguments = 100;

/** The pieces as one expression: of type text, but for a single fragment, which stays what it is. */
export function concatenate(pieces: JsonText): Sql {
  return concatenateAll(operandsOf(pieces));
}

function concatenateAll(operands: readonly Sql[]): Sql {
  if (operands.length <= mostArguments) return call(operands);
  const groups: Sql[] = [];
  for (let start = 0; start < operands.length; start += mostArguments) groups.push(call(operands.slice(start, start + mostArguments)));
  return concatenateAll(groups);
}

/** A longer call has a line for each piece of JSON with the value that follows it. */
const longestLine = 3;

/** Qualified, because a function of the user's that takes texts would be a better match than one that takes anything. */
function call(operands: readonly Sql[]): Sql {
  if (operands.length === 1) return operands[0]!;
  if (operands.length <= longestLine) return sql`pg_catalog.concat(${join(operands, ', ')})`;
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

/** Neighbouring strings become one literal. */
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
