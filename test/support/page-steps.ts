/**
 * Reads a page of the documentation as a script: SQL to run, requests with their answers, and parts of the schema, in the order of the
 * page.
 */

export type PageStep = {
  /** The extension without which it is left out. */
  readonly needs: string | null;
} & (
  | { readonly kind: 'sql'; readonly text: string }
  | { readonly kind: 'request'; readonly query: string; readonly answer: string; readonly askedBy: string }
  | { readonly kind: 'types'; readonly text: string }
);

/**
 * An invisible marker before a block, which says who asks, that the block is a part of the schema, or which extension it needs; then the block, or two. An indented
 * block belongs to a list, and is not run.
 */
const block =
  /^(?:<!-- (?:asked by (\w+)|(in the schema)|needs (\w+)) -->\n)?```(sql|graphql)\n([\s\S]*?)```\n(?:```json\n([\s\S]*?)```\n)?/gm;

/** The steps. Throws if a request has no answer below it. */
export function readPageSteps(page: string): PageStep[] {
  return [...page.matchAll(block)].flatMap(([, askedBy = 'anon', inSchema, needs = null, language, text = '', answer]): PageStep[] => {
    if (language === 'sql') return [{ kind: 'sql', needs, text }];
    if (inSchema !== undefined) return [{ kind: 'types', needs, text }];
    if (answer === undefined) throw new Error(`There is no answer below this request:\n${text}`);
    return [{ kind: 'request', needs, query: text, answer, askedBy }];
  });
}
