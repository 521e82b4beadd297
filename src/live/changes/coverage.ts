/**
 * Which tables a method covers: those that the publication lists, or that have a trigger, and how tables inherit from each other. Read from
 * the catalogs, because anybody who owns a table may change that at any time.
 */
import type { Rows } from '../../database/database.ts';
import { type LiveMethod, publicationName, triggerName } from '../../extension/install-live.ts';

/** The functions of triggers. */
const functionOf: Readonly<Record<LiveMethod, string>> = {
  wal: 'emit_change',
  messages: 'emit_change',
  table: 'record_change',
  notify: 'notify_change',
};

/** Schemas that anybody may have created do not count: only owners of tables create triggers, but not all know rowgraph's functions. */
const triggerQuery = `select t.tgrelid, p.proname from pg_catalog.pg_trigger t
  join pg_catalog.pg_proc p on p.oid = t.tgfoid join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where t.tgname = '${triggerName}' and n.nspname = 'rowgraph' and t.tgenabled in ('O', 'A')
    and t.tgtype & 61 = 60 and t.tgqual is null and t.tgattr = ''`;
const publishedQuery = `select r.prrelid from pg_catalog.pg_publication_rel r join pg_catalog.pg_publication p on p.oid = r.prpubid
  where p.pubname = '${publicationName}' and p.pubinsert and p.pubupdate and p.pubdelete and p.pubtruncate and not p.pubviaroot
    and pg_catalog.to_jsonb(r) ->> 'prqual' is null`;

/**
 * `followed`: whether DDL is followed. `tables`: with what covers each. Rows that logical replication puts into a table fire no triggers of
 * statements.
 */
const coverageText = `select pg_catalog.json_build_object(
  'methods', pg_catalog.json_build_object(
    'publication', exists (select from pg_catalog.pg_publication p where p.pubname = '${publicationName}'),
    'published', (select count(*) from (${publishedQuery}) r),
    'functions', (select coalesce(pg_catalog.json_agg(distinct t.proname), '[]') from (${triggerQuery}) t)
  ),
  'followed', (select count(*) = 3 from pg_catalog.pg_event_trigger t
    where t.evtname in ('rowgraph_live_start', 'rowgraph_live_end', 'rowgraph_live_drop') and t.evtenabled in ('O', 'A')),
  'tables', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(c.oid::int8, c.relkind, p.prrelid is not null, t.proname, s.srrelid is not null)), '[]')
    from pg_catalog.pg_class c left join (${publishedQuery}) p on p.prrelid = c.oid left join (${triggerQuery}) t on t.tgrelid = c.oid
      left join (select distinct r.srrelid from pg_catalog.pg_subscription_rel r) s on s.srrelid = c.oid
    where c.oid >= 16384 and c.relkind in ('r', 'p', 'm', 'f')),
  'others', (select coalesce(pg_catalog.json_agg(c.oid::int8), '[]') from pg_catalog.pg_class c
    where c.oid >= 16384 and c.relkind not in ('r', 'p', 'm', 'f', 'S')),
  'inherits', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(i.inhrelid::int8, i.inhparent::int8)), '[]') from pg_catalog.pg_inherits i)
)::text`;

/** Changes with whatever may change the coverage; a trigger that was off for a while has another version of its row. */
export const coverageMarkerQuery = `select pg_catalog.concat_ws(' ',
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(t.ctid, t.xmin::text::int8)) from pg_catalog.pg_trigger t where t.tgname = '${triggerName}'),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(p.ctid, p.xmin::text::int8)) from pg_catalog.pg_publication p),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(r.ctid, r.xmin::text::int8)) from pg_catalog.pg_publication_rel r),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(i.ctid, i.xmin::text::int8)) from pg_catalog.pg_inherits i),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(s.ctid, s.xmin::text::int8)) from pg_catalog.pg_subscription_rel s),
  (select pg_catalog.bit_xor(pg_catalog.hashtidextended(e.ctid, e.xmin::text::int8)) from pg_catalog.pg_event_trigger e))`;

interface RawCoverage {
  readonly methods: { readonly publication: boolean; readonly published: number; readonly functions: readonly string[] };
  readonly followed: boolean;
  readonly tables: readonly (readonly [id: number, kind: string, isPublished: boolean, trigger: string | null, isSubscribed: boolean])[];
  readonly others: readonly number[];
  readonly inherits: readonly (readonly [child: number, parent: number])[];
}

/** Reads what covers the tables, with `run`. */
export async function readCoverage(run: (text: string) => Promise<Rows>): Promise<Setup> {
  const [row] = await run(coverageText);
  return new Setup(JSON.parse(row?.[0] ?? '') as RawCoverage);
}

/** What is set up in a database. */
export class Setup {
  /** The methods for which something is set up, best first. */
  readonly methods: readonly LiveMethod[];
  readonly #raw: RawCoverage;
  readonly #coverages = new Map<LiveMethod, Coverage>();

  constructor(raw: RawCoverage) {
    this.#raw = raw;
    const { publication, published, functions } = raw.methods;
    const isSetUp: Readonly<Record<LiveMethod, boolean>> = {
      wal: publication && published > 0,
      messages: publication && published === 0 && functions.includes(functionOf.messages),
      table: functions.includes(functionOf.table),
      notify: functions.includes(functionOf.notify),
    };
    this.methods = (['wal', 'messages', 'table', 'notify'] as const).filter((method) => isSetUp[method]);
  }

  coverageOf(method: LiveMethod): Coverage {
    const known = this.#coverages.get(method) ?? new Coverage(this.#raw, method);
    this.#coverages.set(method, known);
    return known;
  }
}

/** Which tables a method covers, and their relatives. */
export class Coverage {
  readonly #covered: ReadonlySet<number>;
  readonly #known: ReadonlySet<number>;
  readonly #parents: Edges;
  readonly #children: Edges;

  constructor(raw: RawCoverage, method: LiveMethod) {
    const [parents, children] = [group(raw.inherits), group(raw.inherits.map(([child, parent]) => [parent, child]))];
    this.#parents = parents;
    this.#children = children;
    const isStream = method === 'wal' || method === 'messages';
    const triggered = new Set(raw.tables.filter(([, , , name]) => name === functionOf[method]).map(([id]) => id));
    // Partitioned tables have no rows of their own. A statement on a parent fires the triggers of the parent alone.
    const announced = new Set(
      raw.tables.flatMap(([id, kind, isPublished, , isSubscribed]) => {
        if (kind === 'm') return raw.followed ? [id] : [];
        if (kind === 'p' || (isStream && isPublished)) return [id];
        return !isSubscribed && [id, ...reach(id, parents)].every((each) => triggered.has(each)) ? [id] : [];
      }),
    );
    const covered = raw.tables
      .map(([id]) => id)
      .filter((id) => announced.has(id) && reach(id, children).every((each) => announced.has(each)));
    this.#covered = new Set([...covered, ...raw.others]);
    this.#known = new Set([...raw.tables.map(([id]) => id), ...raw.others]);
  }

  /** Whether changes of a table, its partitions and its children are announced; views and whatever else has no data count as covered. */
  covers(table: number): boolean {
    return this.#covered.has(table);
  }

  /** Whether a table was there when the coverage was read. */
  knows(table: number): boolean {
    return this.#known.has(table);
  }

  /** Tables with all that they inherit from, and all that inherits from them. */
  relativesOf(tables: ReadonlySet<number>): ReadonlySet<number> {
    if (this.#parents.size === 0) return tables;
    return new Set([...tables].flatMap((id) => [id, ...reach(id, this.#parents), ...reach(id, this.#children)]));
  }
}

type Edges = ReadonlyMap<number, readonly number[]>;

function group(pairs: readonly (readonly [from: number, to: number])[]): Edges {
  return new Map([...Map.groupBy(pairs, ([from]) => from)].map(([from, group]) => [from, group.map(([, to]) => to)]));
}

function reach(id: number, edges: Edges): readonly number[] {
  const reached = new Set<number>();
  const visit = (from: number): void => {
    for (const to of edges.get(from) ?? []) {
      if (reached.has(to)) continue;
      reached.add(to);
      visit(to);
    }
  };
  visit(id);
  return [...reached];
}
