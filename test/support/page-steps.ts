/**
 * Reads a page of the documentation as a script: SQL to run, requests with their answers, and parts of the schema, in the order of the
 * page.
 */

export type PageStep =
  | { readonly kind: 'sql'; readonly text: string }
  | { readonly kind: 'request'; readonly query: string; readonly answer: string; readonly askedBy: string }
  | { readonly kind: 'types'; readonly text: string };

/**
 * An invisible marker before a block, which says who asks or that the block is a part of the schema; then the block, or two. An indented
 * block belongs to a list, and is not run.
 */
const block = /^(?:<!-- (?:asked by (\w+)|(in the schema)) -->\n)?```(sql|graphql)\n([\s\S]*?)```\n(?:```json\n([\s\S]*?)```\n)?/gm;

/** The steps. Throws if a request has no answer below it. */
export function readPageSteps(page: string): PageStep[] {
  return [...page.matchAll(block)].flatMap(([, askedBy = 'anon', inSchema, language, text = '', answer]): PageStep[] => {
    if (language === 'sql') return [{ kind: 'sql', text }];
    if (inSchema !== undefined) return [{ kind: 'types', text }];
    if (answer === undefined) throw new Error(`There is no answer below this request:\n${text}`);
    return [{ kind: 'request', query: text, answer, askedBy }];
  });
}
