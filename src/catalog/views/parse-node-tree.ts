/**
 * Parses PostgreSQL's text of a parsed query (`pg_node_tree`, which `pg_rewrite.ev_action` has for views): nodes `{TYPE :label value …}`,
 * lists `(…)`, and tokens, in which a backslash escapes the next character. Uses no recursion, and takes time linear in the text.
 *
 * Relies on the format of `outfuncs.c`, which PostgreSQL itself reads but does not document; `infer-views.test.ts` tests it on real
 * servers.
 */

export type TreeValue = string | null | TreeNode | readonly TreeValue[];

export interface TreeNode {
  readonly type: string;
  /** Values by label, without its colon. */
  readonly fields: ReadonlyMap<string, TreeValue>;
}

/** An open bracket: a list, or a node with the label that awaits its value. */
interface Open {
  readonly items: TreeValue[];
  readonly node: { type: string; readonly fields: Map<string, TreeValue>; label: string | null } | null;
}

/** The bytes of a constant, which follow its length and are part of its value. */
const bytesPattern = /\s*\[[^\]]*\]/y;

/** Parses a text. Throws an `Error` if it has another format. */
export function parseNodeTree(text: string): TreeValue {
  const root: Open = { items: [], node: null };
  const open = [root];
  let top = root;
  for (let position = 0; position < text.length; ) {
    const character = text[position]!;
    if (isSpace(character)) position += 1;
    else if (character === '(' || character === '{') {
      top = { items: [], node: character === '(' ? null : { type: '', fields: new Map(), label: null } };
      open.push(top);
      position += 1;
    } else if (character === ')' || character === '}') {
      const value = top.node ?? top.items;
      if ((character === '}') !== (top.node !== null) || open.length === 1) throw new Error('a bracket is closed that is not open');
      open.pop();
      top = open.at(-1)!;
      add(top, value);
      position += 1;
    } else {
      const end = endOfToken(text, position);
      const token = text.slice(position, isBytes(top, text.slice(position, end), text, end) ? bytesPattern.lastIndex : end);
      position += token.length;
      add(top, token === '<>' ? null : token);
    }
  }
  if (open.length !== 1 || root.items.length !== 1) throw new Error('it is not one whole tree');
  return root.items[0]!;
}

function endOfToken(text: string, start: number): number {
  for (let position = start; position < text.length; position += 1) {
    const character = text[position]!;
    if (character === '\\') position += 1;
    else if (isSpace(character) || character === '(' || character === ')' || character === '{' || character === '}') return position;
  }
  return text.length;
}

/** White space as PostgreSQL's reader defines it. Other white space is escaped, or part of a name. */
function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t';
}

/**
 * Adds a value to a list, or to a node as its type, a label, or the value of the last label. Any text can be a value, such as a column's
 * name.
 */
function add({ items, node }: Open, value: TreeValue): void {
  if (node === null) items.push(typeof value === 'string' ? unescape(value) : value);
  else if (node.type === '') {
    if (typeof value !== 'string') throw new Error('a node has no type');
    node.type = value;
  } else if (node.label === null) {
    if (typeof value !== 'string' || !value.startsWith(':')) throw new Error('a value has no label');
    node.label = value.slice(1);
  } else {
    node.fields.set(node.label, typeof value === 'string' ? unescape(value) : value);
    node.label = null;
  }
}

function isBytes({ node }: Open, token: string, text: string, position: number): boolean {
  if (node?.label !== 'constvalue' || !/^\d+$/.test(token)) return false;
  bytesPattern.lastIndex = position;
  return bytesPattern.test(text);
}

function unescape(token: string): string {
  return token.includes('\\') ? token.replaceAll(/\\([\s\S])/g, '$1') : token;
}

export function asNode(value: TreeValue | undefined): TreeNode | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as TreeNode) : undefined;
}

/** The members of a list; empty if the value is not a list. */
export function asList(value: TreeValue | undefined): readonly TreeValue[] {
  return Array.isArray(value) ? (value as readonly TreeValue[]) : [];
}

export function asNodes(value: TreeValue | undefined): readonly TreeNode[] {
  return asList(value).map((item) => {
    const node = asNode(item);
    if (node === undefined) throw new Error('a list holds something else than nodes');
    return node;
  });
}

/** The integer under a label. */
export function numberIn({ fields }: TreeNode, label: string): number {
  const number = Number(fields.get(label) ?? Number.NaN);
  if (!Number.isInteger(number)) throw new Error(`"${label}" is not a number`);
  return number;
}

/** A list of numbers, which starts with a letter. */
export function numbersIn({ fields }: TreeNode, label: string): readonly number[] {
  return asList(fields.get(label)).slice(1).map(Number);
}

/** A boolean; false if this version of PostgreSQL does not have the label. */
export function flagIn({ fields }: TreeNode, label: string): boolean {
  return fields.get(label) === 'true';
}
