/**
 * JSON that a statement builds as text, by concatenation: `'{"id":' || id::text || ',"name":' || to_json(name)::text || '}'`.
 * That is faster than `json_build_object` on lists (docs/decisions/json.md).
 */
import { join, literal, newLine, type Sql, sql } from './sql.ts';

/** Pieces in order: a string is JSON text as it stands, a fragment is an expression of type text that is never null. */
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

/** A chain of more pieces than this is grouped, so that PostgreSQL neither nests too deeply nor copies a growing text each time. */
const longestChain = 50;

/** The pieces as one expression of type text. */
export function concatenate(pieces: JsonText): Sql {
  const operands = operandsOf(pieces);
  if (operands.length <= longestChain) return chain(operands);
  const groups: Sql[] = [];
  for (let start = 0; start < operands.length; start += longestChain) {
    const group = operands.slice(start, start + longestChain);
    groups.push(group.length === 1 ? group[0]! : sql`(${join(group, ' || ')})`);
  }
  return concatenate(groups);
}

/** The longest chain that stands on one line. */
const longestLine = 3;

/** A longer chain has a line for each piece of JSON with the value that follows it. */
function chain(operands: readonly Sql[]): Sql {
  if (operands.length <= longestLine) return join(operands, ' || ');
  const lines: Sql[][] = [];
  for (const operand of operands) {
    const isText = /^E?'/.test(String(operand.chunks[0]));
    const line = lines.at(-1);
    if (line && !isText) line.push(operand);
    else lines.push([operand]);
  }
  return join(
    lines.map((line) => join(line, ' || ')),
    sql`${newLine}  || `,
  );
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
