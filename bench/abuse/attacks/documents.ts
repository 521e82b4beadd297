/** Attacks with documents. */
import * as worst from '../../../test/abuse/worst-documents.ts';
import type { Attack } from '../attack.ts';
import { flood } from './flood.ts';

/** Sends a document again and again, over this many connections. */
function document(name: string, title: string, request: object | ((index: number) => object | string), atOnce = 10): Attack {
  const make = typeof request === 'function' ? (request as (index: number) => object | string) : (): object => request;
  return { name, title, run: (arena, until, tally) => flood(arena, until, tally, { request: make, atOnce }) };
}

/** A document of 233 bytes whose page sizes multiply, from a security audit. */
const pageProduct = (size: number): object => ({
  query: `{ accountCollection(first: ${size}) { edges { node { blogCollection(first: ${size}) { edges { node { postCollection(first: 30) { edges { node { commentCollection(first: 30) { edges { node { id body author { name } } } } } } } } } } } } } }`,
});
/** As many rows as the limit allows: 80 x 40 x 30 and the levels above. */
const pageProductWithin = {
  query:
    '{ accountCollection(first: 70) { edges { node { blogCollection(first: 30) { edges { node { owner { blogCollection(first: 20) { edges { node { id owner { email } } } } } } } } } } } }',
};

const deepBody = `{"query":"query ($a: Opaque) { __typename }","variables":{"a":${'['.repeat(300_000)}${']'.repeat(300_000)}}}`;

/** Each set of values makes another variant of the document, with thousands of fields. */
const booleans = Array.from({ length: 10 }, (_, index) => `b${index}`);
const pages = Array.from({ length: 45 }, (_, index) => `p${index}: accountCollection(first: 1) { ...page }`);
const choices = booleans.map((name) => `name @include(if: $${name}) email @skip(if: $${name})`);
const manyVariants = (index: number): object => ({
  query: `query (${booleans.map((name) => `$${name}: Boolean!`).join(' ')}) { ${pages.join(' ')} }
    fragment page on AccountConnection {
      edges { node { ${choices.join(' ')} blogCollection(first: 1) { edges { node { owner { ${choices.join(' ')} } } } } } }
    }`,
  variables: Object.fromEntries(booleans.map((name, bit) => [name, (index & (1 << bit)) === 0])),
});

export const documentAttacks: readonly Attack[] = [
  document('fragments-20', 'one document of 2^20 selections in fragments, again and again', worst.doublingFragments(20), 1),
  document('fragments-14', 'a document of 2^14 selections, one client in sequence', worst.doublingFragments(14), 1),
  document('page-product', 'ten anonymous page-product queries (233 bytes each) at a time', pageProduct(1000)),
  document('page-product-within', 'ten page products just within the limit', pageProductWithin),
  document('aliases', '10,000 aliases, ten at a time', worst.aliasedColumns(10_000)),
  document('aliases-within', '1,000 aliases, new ones each time, ten at a time', (index) => ({
    query: worst.aliasedColumns(1000).query.replaceAll('a1', `b${index}_1`),
  })),
  document('equal-fields', '708 equal fields, ten at a time', worst.equalFields(708)),
  document('overlapping-fields', '190,000 pairs of fields to merge', (index) => ({
    query: `${worst.overlappingFields(400).query}#${index}`,
  })),
  document('in-list', '10,000 elements in a variable', worst.inListByVariable(10_000)),
  document('inserted-rows', 'inserts of 10,000 rows', worst.insertedRows(10_000), 4),
  document('or-members', '10,000 members of an or in a variable', worst.orMembersByVariable(10_000)),
  document('many-filters', '1,000 filter members, new documents', (index) => ({ query: `${worst.orMembers(490).query}#${index}` })),
  document('introspection', 'introspection of everything, new documents, ten at a time', (index) => ({
    query: `${worst.introspectionAliases(40).query}#${index}`,
  })),
  document('deep-json', 'variables 300,000 deep', () => deepBody),
  document('distinct-documents', 'a new document with each request', (index) => ({
    query: `{ a${index}: accountCollection(first: 1) { edges { node { b${index}: id ${'email name '.repeat(50)} } } } }`,
  })),
  document('distinct-variants', 'a new variant of one document with each request', (index) => ({
    query:
      'query ($o: [AccountOrderBy!], $f: AccountFilter) { accountCollection(orderBy: $o, filter: $f, first: 1) { edges { node { id } } } }',
    variables: {
      o: [...index.toString(2)].map((bit) => ({ id: bit === '1' ? 'AscNullsFirst' : 'DescNullsLast' })),
      f: { and: Array.from({ length: index % 200 }, () => ({ id: { gt: 0 } })) },
    },
  })),
  document('variants-at-once', 'a document of 3 KB with ten booleans, other ones each time, 300 at a time', manyVariants, 300),
  {
    name: 'two-large',
    title: 'inserts of 5,000 rows from two addresses, thirty at a time from each',
    run: async (arena, until, tally) => {
      const request = () => worst.insertedRows(5_000);
      await Promise.all(['127.0.0.8', '127.0.0.9'].map((from) => flood(arena, until, tally, { request, atOnce: 30, from })));
    },
  },
  {
    name: 'invalid-documents',
    title: 'invalid documents, ten at a time',
    run: async (arena, until, tally) => {
      const transactions = async (): Promise<number> =>
        Number(
          (
            await arena.sql('select pg_stat_force_next_flush(), xact_commit as n from pg_stat_database where datname = current_database()')
          )[0]?.n,
        );
      const before = await transactions();
      await flood(arena, until, tally, { request: (index) => ({ query: `{ no${index} }` }), atOnce: 10 });
      const after = await transactions();
      tally.notes.push(`${after - before} transactions meanwhile, the victim's among them`);
    },
  },
];
