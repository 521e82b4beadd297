/**
 * Names that PostgreSQL takes, from harmless to hostile: what has to be quoted, what GraphQL cannot carry, what collides after
 * inflection, and what GraphQL, the dialect or the SQL that we write uses itself.
 */
import type { RandomSource } from './random-source.ts';

const plain = 'account blog post owner item note team city score title body kind code parent child label'.split(' ');

/** Collide with each other, with derived types and with derived fields. */
const colliding =
  'Account _account account_ account__ accountCollection account_collection account_connection AccountEdge account_filter accountByPk blog_order_by BlogInsertInput blogCollection owner_id ownerId owner owner_Id _id Id ID id post_id x_id title_ _title __title'.split(
    ' ',
  );

const dialect =
  'node nodeId node_id Node and or not edges cursor first last filter orderBy order_by before after offset totalCount aggregate count sum min records affectedCount pageInfo page_info Query Mutation query mutation Int String Float BigInt Cursor PageInfo FilterIs IDFilter StringFilter OrderByDirection __typename __type __x _ eq in is objects set atMost at_most'.split(
    ' ',
  );

const keywords =
  'select table user order group from where null true false default end like array check column on fragment type input'.split(' ');

/** Aliases and names of the SQL that we write. */
const internal = 'to_json array_agg max string_agg coalesce t1 t2 (number) (row) changed called value item items n $1 (number)_'.split(' ');

// biome-ignore format: a list
const hostile = [
  'a b', 'a-b', 'with "quotes"', "it's", 'back\\slash', '1digit', 'ünï', 'Ünï', '名前', '😀', 'tab\tx', 'new\nline', '50%', 'dollar$', 'a.b',
  'semi;colon', '(paren)', '{brace}', 'comma,', ' lead', 'trail ', "'); drop schema public; --", '"', "'", '\\', '@graphql({})', '--', '/*', ':x',
  'é', 'x'.repeat(63), 'ü'.repeat(31), 'constructor', '__proto__', 'toString', 'hasOwnProperty',
];

/** A name; the more hostile, the less often GraphQL can carry it. */
export function randomName(random: RandomSource, hostility: number): string {
  if (random.chance(hostility)) return random.pick(random.chance(0.25) ? internal : hostile);
  const kind = random.integer(0, 9);
  if (kind < 5) return random.pick(plain);
  if (kind < 7) return random.pick(colliding);
  return random.pick(kind < 9 ? dialect : keywords);
}

/** Gives out names that differ from each other, also in the 63 bytes that PostgreSQL keeps. */
export class FreshNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  take(random: RandomSource, hostility: number): string {
    for (let attempt = 0; ; attempt += 1) {
      const name = randomName(random, hostility);
      const candidate = attempt < 3 ? name : `${[...name].slice(0, 20).join('')}${random.integer(0, 99)}`;
      if (this.#taken.has(candidate)) continue;
      this.#taken.add(candidate);
      return candidate;
    }
  }
}
