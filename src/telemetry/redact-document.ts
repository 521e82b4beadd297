/**
 * A document without its values, for logs. In: its text; out: its text with empty strings and zeros instead, except for page sizes, which
 * show how much was asked for. `rowgraph advise` can still explain such a document.
 */
import { Kind, parse, print, visit } from 'graphql';

const pageSizes: ReadonlySet<string> = new Set(['first', 'last', 'offset', 'atMost']);
/** In characters. Parsing and printing a longer one would take too long for a log line. */
const longestDocument = 20_000;

/** Null if the document is too long. */
export function redactDocument(text: string): string | null {
  if (text.length > longestDocument) return null;
  const document = visit(parse(text, { noLocation: true }), {
    // Page sizes are kept: the visitor skips them.
    Argument: (node) => (pageSizes.has(node.name.value) && node.value.kind === Kind.INT ? false : undefined),
    StringValue: (node) => (node.value === '' ? undefined : { ...node, value: '', block: false }),
    IntValue: (node) => ({ ...node, value: '0' }),
    FloatValue: (node) => ({ ...node, value: '0.0' }),
  });
  return print(document);
}
