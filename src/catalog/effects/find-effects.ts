/** Finds which tables and functions have effects beyond the transaction that uses them, in the graph of what refers to what. */
import type { MislabelledFunction, SessionEffects } from '../catalog.ts';
import { impliedOperators, type NodeKind, type RawEffects, type RawFunctionBody } from './effects-query.ts';
import { FunctionBody, isWord, wordsOfReaders } from './function-body.ts';

export const noEffects: SessionEffects = { readsSession: false, changesSession: false };

type Node = `${NodeKind}${number}`;

/** Volatile functions of extensions that change nothing of the session: random values and encryption. */
const harmless: ReadonlySet<string> = new Set([
  ...['uuid_generate_v1', 'uuid_generate_v1mc', 'uuid_generate_v4', 'uuid_generate_v7', 'gen_random_bytes', 'gen_random_uuid', 'gen_salt'],
  ...['pgp_sym_encrypt', 'pgp_sym_encrypt_bytea', 'pgp_pub_encrypt', 'pgp_pub_encrypt_bytea'],
]);

export class Effects {
  readonly #referrers: ReadonlyMap<Node, readonly Node[]>;
  readonly #reading: ReadonlySet<Node>;
  readonly #changing: ReadonlySet<Node>;
  /** Functions that are labelled immutable and may read the caller's claims. */
  readonly #mislabelled: readonly UserFunction[];

  /** `reading` and `changing`: what has the effects itself. */
  constructor(
    referrers: ReadonlyMap<Node, readonly Node[]>,
    mislabelled: readonly UserFunction[],
    reading: readonly Node[],
    changing: readonly Node[],
  ) {
    this.#referrers = referrers;
    this.#mislabelled = mislabelled;
    this.#reading = this.#allReaching(reading);
    this.#changing = this.#allReaching(changing);
  }

  ofReading(tableId: number): SessionEffects {
    return this.#of(`r${tableId}`);
  }

  ofWriting(tableId: number): SessionEffects {
    return this.#of(`w${tableId}`);
  }

  ofCalling(functionId: number): SessionEffects {
    return this.#of(`p${functionId}`);
  }

  /** The mislabelled functions that any of these tables or functions uses, at any depth. */
  mislabelledIn(tables: readonly number[], functions: readonly number[]): MislabelledFunction[] {
    return this.#mislabelled.flatMap(({ id, signature }) => {
      const using = this.#allReaching([`p${id}`]);
      const tableIds = tables.filter((table) => using.has(`w${table}`));
      return tableIds.length > 0 || functions.some((each) => using.has(`p${each}`)) ? [{ signature, tableIds }] : [];
    });
  }

  #of(node: Node): SessionEffects {
    const [readsSession, changesSession] = [this.#reading.has(node), this.#changing.has(node)];
    return readsSession || changesSession ? { readsSession, changesSession } : noEffects;
  }

  #allReaching(nodes: readonly Node[]): Set<Node> {
    const found = new Set(nodes);
    // A set also visits what is added while it is visited.
    for (const node of found) for (const referrer of this.#referrers.get(node) ?? []) found.add(referrer);
    return found;
  }
}

interface UserFunction extends Pick<RawFunctionBody, 'id' | 'name' | 'volatility' | 'language'> {
  readonly argumentNames: ReadonlySet<string>;
  readonly body: FunctionBody | null;
  readonly signature: string;
}

export function* findEffects(raw: RawEffects): Generator<void, Effects> {
  const functions: UserFunction[] = [];
  for (const { argumentNames, body, signature, ...rest } of raw.functions) {
    functions.push({
      ...rest,
      argumentNames: new Set(argumentNames),
      body: body === null ? null : new FunctionBody(body),
      signature: signature ?? rest.name,
    });
    yield;
  }
  const referrers = new Map<Node, Node[]>();
  const refer = (source: Node, target: Node): void => {
    const existing = referrers.get(target);
    if (existing) existing.push(source);
    else referrers.set(target, [source]);
  };
  for (const { id } of raw.relations) refer(`w${id}`, `r${id}`);
  let count = 0;
  for (const { source, sourceId, target, targetId } of raw.edges) {
    refer(`${source}${sourceId}`, `${target}${targetId}`);
    if (++count % 1000 === 0) yield;
  }
  yield* referByName(raw, functions, refer);
  const nodesOf = (found: readonly UserFunction[]): Node[] => found.map(({ id }): Node => `p${id}`);
  const callers = (sought: 'changes' | 'sequences'): Node[] =>
    raw.callers.filter((caller) => caller[sought]).map(({ kind, id }): Node => `${kind}${id}`);
  const mislabelled = yield* findMislabelled(raw, functions);
  // What cannot be read may use any of them.
  const reading = functions.filter((each) => each.body?.readsSequences || (mislabelled.length > 0 && isIllegible(each)));
  return new Effects(
    referrers,
    mislabelled,
    [...nodesOf(mislabelled), ...nodesOf(reading), ...callers('sequences')],
    [...nodesOf(functions.filter(mayChangeSession)), ...callers('changes')],
  );
}

/** The references in function bodies that are text: PostgreSQL does not record them. */
function* referByName(
  raw: RawEffects,
  functions: readonly UserFunction[],
  refer: (source: Node, target: Node) => void,
): Generator<void, void> {
  const targets = new Map<string, { readonly id: number; readonly kind: NodeKind }[]>();
  const add = (kind: NodeKind, id: number, name: string): void => {
    targets.set(name, [...(targets.get(name) ?? []), { kind, id }]);
  };
  for (const { id, name } of functions) add('p', id, name);
  for (const { id, name } of raw.relations) add('r', id, name);
  for (const { id, name } of raw.types) add('t', id, name);
  for (const { id, name } of raw.operators) add('o', id, name);
  const oddNames = [...targets.keys()].filter((name) => !isWord(name));
  for (const { id, body, volatility } of functions) {
    if (body === null) continue;
    const named = new Set([...body.words].filter((word) => targets.has(word)));
    for (const name of oddNames) if (implied.has(name) || body.names(name)) named.add(name);
    for (const name of named) {
      for (const target of targets.get(name)!) {
        if (target.kind !== 'r') refer(`p${id}`, `${target.kind}${target.id}`);
        // A function that is not volatile cannot write.
        else if (body.usesTables) refer(`p${id}`, `${volatility === 'v' ? 'w' : 'r'}${target.id}`);
      }
    }
    yield;
  }
}

const implied: ReadonlySet<string> = new Set(impliedOperators);

/**
 * Whether its body does not tell what it uses. The code of C functions is trusted: extensions have them, and only a superuser creates
 * others.
 */
function isIllegible({ language, body }: UserFunction): boolean {
  return language !== 'c' && (!legible.has(language) || body!.isObscure);
}

/** Only the labels of functions in C are trusted: extensions have them, and only a superuser can create others. */
function mayChangeSession({ name, volatility, language, body }: UserFunction): boolean {
  switch (language) {
    case 'c':
    case 'internal':
      return volatility === 'v' && !harmless.has(name);
    case 'sql':
    case 'plpgsql':
      return body!.mayChangeSession;
    default:
      return true;
  }
}

/** The functions labelled immutable whose bodies may read what differs between callers, themselves or through others like them. */
function* findMislabelled(raw: RawEffects, functions: readonly UserFunction[]): Generator<void, UserFunction[]> {
  const readers = new Readers(raw.readers.map(({ name }) => name));
  for (const { name, volatility, language } of functions) if (volatility !== 'i' && !isFormatting(name, language)) readers.add(name);
  const relations = [...raw.relations, ...raw.systemRelations].map(({ name }) => name);
  const suspects = functions.filter(({ volatility, language }) => volatility === 'i' && language !== 'c');
  const found = new Set<UserFunction>();
  // Until a round finds no other: one that calls a mislabelled function is mislabelled, too.
  for (let count = -1; count < found.size; ) {
    count = found.size;
    for (const suspect of suspects) {
      if (found.has(suspect) || !mayRead(suspect, readers, relations)) continue;
      found.add(suspect);
      readers.add(suspect.name);
      yield;
    }
  }
  return [...found];
}

/** A dictionary of `unaccent` is the same for all callers. */
function isFormatting(name: string, language: string): boolean {
  return name === 'unaccent' && language === 'c';
}

const legible: ReadonlySet<string> = new Set(['sql', 'plpgsql', 'internal']);

function mayRead({ language, body, argumentNames }: UserFunction, readers: Readers, relations: readonly string[]): boolean {
  if (body === null || !legible.has(language) || body.isObscure || readers.areUsedIn(body, argumentNames)) return true;
  return body.usesTables && relations.some((name) => !argumentNames.has(name) && body.names(name));
}

class Readers {
  readonly #words: Set<string>;
  /** Those that are not plain words. */
  readonly #oddNames: string[] = [];

  constructor(names: readonly string[]) {
    this.#words = new Set(wordsOfReaders(names));
  }

  add(name: string): void {
    if (isWord(name)) this.#words.add(name);
    else this.#oddNames.push(name);
  }

  areUsedIn(body: FunctionBody, argumentNames: ReadonlySet<string>): boolean {
    for (const word of body.words) if (this.#words.has(word) && !argumentNames.has(word)) return true;
    return this.#oddNames.some((name) => body.names(name));
  }
}
