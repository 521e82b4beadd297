/**
 * A document without the values in it, for logs. In: its text; out: its text with empty strings and zeros in their place, but for page sizes, which say how much was
 * asked for. `rowgraph advise` fills such a document in again.
 */
import { Kind, parse, print, visit } from 'graphql';

const pageSizes: ReadonlySet<string> = new Set(['first', 'last', 'offset', 'atMost']);
/** In characters. Parsing and printing a longer one would take too long for a line of a log. */
const longestDocument = 20_000;

/** Null if the document is too long. */
export function redactDocument(text: string): string | null {
  if (text.length > longestDocument) return null;
  const document = visit(parse(text, { noLocation: true }), {
    // Page sizes are kept as they are, whatever is inside.
    Argument: (node) => (pageSizes.has(node.name.value) && node.value.kind === Kind.INT ? false : undefined),
    StringValue: (node) => (node.value === '' ? undefined : { ...node, value: '', block: false }),
    IntValue: (node) => ({ ...node, value: '0' }),
    FloatValue: (node) => ({ ...node, value: '0.0' }),
  });
  return print(document);
}
