/**
 * Relies on undocumented behaviour of validation in graphql-js: how it reports that it gave up, and that it reads the text of a source only
 * to create errors (`test/contracts/graphql.test.ts`).
 */
import { type GraphQLError, Source } from 'graphql';

/** Whether a rule gave up because a document spreads more fragments than graphql-js follows. */
export function isAborted({ message }: GraphQLError): boolean {
  return message === 'Validation aborted.';
}

/**
 * A source to parse with locations, and a function to call once it is parsed, which drops its text. graphql-js reads the text only to
 * create errors: it counts the lines up to each location of each error, of which there may be millions. Errors keep their positions.
 */
export function documentSource(text: string): { readonly source: Source; readonly dropText: () => void } {
  const source = new Source(text);
  return {
    source,
    dropText: () => {
      source.body = '';
    },
  };
}
