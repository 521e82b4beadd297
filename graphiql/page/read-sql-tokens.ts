/** Splits SQL for highlighting: keywords, strings, quoted names, parameters, comments, and the rest. The tokens add up to the text. */

export interface SqlToken {
  readonly kind: 'keyword' | 'text' | 'name' | 'parameter' | 'comment' | 'plain';
  readonly text: string;
  /** Its position in the SQL. */
  readonly start: number;
}

const keywords =
  'select|from|where|as|and|or|not|in|is|null|on|order|by|group|having|limit|offset|join|left|lateral|inner|cross|union|all|with|insert|into|values|update|set|delete|returning|using|case|when|then|else|end|filter|coalesce|exists|distinct|asc|desc|nulls|first|last|any|true|false|over|for|create|alter|drop|table|view|index|concurrently|unique|policy|function|schema|type|sequence|enable|row|level|security|grant|revoke|to|comment|column|add|primary|key|references|default|execute|usage|all|privileges|if|replace|only|check|not|trigger|extension|role|begin|commit|returns|language|stable|immutable|volatile|constraint|foreign|rename|owner|include|analyze|cascade|materialized|generated|always|identity';
const parts = {
  comment: /--[^\n]*|\/\*[\s\S]*?\*\//,
  text: /'(?:[^']|'')*'|\$(?<tag>[A-Za-z_]\w*|)\$[\s\S]*?\$\k<tag>\$/,
  name: /"(?:[^"]|"")*"/,
  parameter: /\$\d+/,
  keyword: new RegExp(`\\b(?:${keywords})\\b`),
};
const pattern = new RegExp(
  Object.entries(parts)
    .map(([kind, { source }]) => `(?<${kind}>${source})`)
    .join('|'),
  'gi',
);

const kinds = ['comment', 'text', 'name', 'parameter', 'keyword'] as const;

/** The tokens, in order. */
export function readSqlTokens(sql: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  let end = 0;
  for (const match of sql.matchAll(pattern)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: sql.slice(end, match.index), start: end });
    const kind = kinds.find((each) => match.groups?.[each] !== undefined) ?? 'plain';
    tokens.push({ kind, text: match[0], start: match.index });
    end = match.index + match[0].length;
  }
  if (end < sql.length) tokens.push({ kind: 'plain', text: sql.slice(end), start: end });
  return tokens;
}
