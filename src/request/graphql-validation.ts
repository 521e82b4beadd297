/**
 * Leans on how graphql-js validates beyond its documentation: how it says that it gave up, and that it reads the text of a source only to make errors
 * (`test/contracts/graphql.test.ts`).
 */
import { type GraphQLError, Source } from 'graphql';

/** Whether a rule has given up, because a document spreads more fragments than graphql-js follows. */
export function isAborted({ message }: GraphQLError): boolean {
  return message === 'Validation aborted.';
}

/**
 * A text to parse with locations, and what must be called once it is parsed: it takes the text away, which only making errors reads. For each place of
 * each error graphql-js counts the lines up to it, and there may be thousands of thousands. The positions of errors remain.
 */
export function documentSource(text: string): { readonly source: Source; readonly takeText: () => void } {
  const source = new Source(text);
  return {
    source,
    takeText: () => {
      source.body = '';
    },
  };
}
