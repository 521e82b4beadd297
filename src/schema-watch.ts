/**
 * Keeps the state of the schema fresh: reloads it beside the old one and swaps it whole. Where our event triggers are installed each
 * flight carries the version it was compiled for; elsewhere a fingerprint is compared every second, and before a request is refused.
 */
import { ApiSet, type ApiSettings } from './api-set.ts';
import { readFingerprint } from './catalog/read-fingerprint.ts';
import type { Database } from './database/database.ts';
import { readSchemaVersion, schemaChannel } from './database/install-schema-triggers.ts';
import { ApiError } from './errors.ts';
import type { Observer } from './events.ts';
import { StaleSchemaError } from './execute/execute-flight.ts';
import { RequestErrors } from './request/parse-document.ts';

const fingerprintMillis = 1000;
/** How often a request is compiled anew because the schema changed under it. */
const maxAttempts = 5;
/** What a request may fail with only because the schema it was compiled for is gone: undefined column, function, table, schema, or type. */
const undefinedObject: ReadonlySet<unknown> = new Set(['42703', '42883', '42P01', '3F000', '42704', '42804', '42501']);

interface State {
  readonly apis: ApiSet;
  readonly fingerprint: string;
}

export class SchemaWatch {
  readonly #database: Database;
  readonly #settings: ApiSettings;
  readonly #observe: Observer;
  #state: State;
  #reload: Promise<void> | null = null;
  #reloadAgain = false;
  #timer: NodeJS.Timeout | null = null;
  #unlisten: (() => Promise<void>) | null = null;
  #stopped = false;

  private constructor(database: Database, settings: ApiSettings, observe: Observer, state: State) {
    this.#database = database;
    this.#settings = settings;
    this.#observe = observe;
    this.#state = state;
  }

  /** Loads the schema and begins to watch it. Rejects where it cannot be loaded. */
  static async start(database: Database, settings: ApiSettings, observe: Observer): Promise<SchemaWatch> {
    const watch = new SchemaWatch(database, settings, observe, await loadState(database, settings, observe));
    await watch.#listen();
    watch.#schedule();
    return watch;
  }

  current(): ApiSet {
    return this.#state.apis;
  }

  /**
   * Runs `use` on the current state. Where it fails in a way that a newer schema may explain, and there is one, it runs again on that:
   * nothing has been changed by then, since a flight that fails changes nothing.
   */
  async withCurrent<T>(use: (apis: ApiSet) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const { apis } = this.#state;
      try {
        return await use(apis);
      } catch (error) {
        if (attempt === maxAttempts || !(await this.#isOutdated(error, apis))) throw error;
        this.#observe({ kind: 'flight-retried', attempt, sqlstate: null });
      }
    }
  }

  /** Reads the schema anew. One reload at a time: a call during one asks for another after it, since that may have begun too early. */
  reload(): Promise<void> {
    if (this.#reload) this.#reloadAgain = true;
    this.#reload ??= this.#reloadUntilFresh().finally(() => {
      this.#reload = null;
    });
    return this.#reload;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#unlisten?.();
    await this.#reload?.catch(() => {});
  }

  async #reloadUntilFresh(): Promise<void> {
    do {
      this.#reloadAgain = false;
      this.#state = await loadState(this.#database, this.#settings, this.#observe, this.#state.apis.roles());
    } while (this.#reloadAgain);
  }

  async #isOutdated(error: unknown, apis: ApiSet): Promise<boolean> {
    if (error instanceof StaleSchemaError) {
      if (this.#state.apis === apis) await this.reload();
      return true;
    }
    if (!mayBeOutdated(error)) return false;
    return this.#state.apis !== apis || (await this.#refresh());
  }

  /** Whether the schema had changed, and is loaded anew now. */
  async #refresh(): Promise<boolean> {
    const before = this.#state;
    const fingerprint = await readFingerprint(this.#database, this.#settings.schemas);
    if (fingerprint === this.#state.fingerprint) return this.#state !== before;
    await this.reload();
    return true;
  }

  async #listen(): Promise<void> {
    if (this.#state.apis.version === null) return;
    this.#unlisten = await this.#database.listen(schemaChannel, () => {
      if (!this.#stopped) this.reload().catch(() => {});
    });
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#refresh()
        .catch((error: unknown) => this.#observe({ kind: 'schema-load-failed', error }))
        .finally(() => this.#schedule());
    }, fingerprintMillis);
    this.#timer.unref();
  }
}

/** Version and fingerprint first: DDL that commits while the catalog is read then shows as a difference, and is not overlooked. */
async function loadState(database: Database, settings: ApiSettings, observe: Observer, roles: readonly string[] = []): Promise<State> {
  const start = performance.now();
  const version = await readSchemaVersion(database);
  const fingerprint = await readFingerprint(database, settings.schemas);
  const apis = await ApiSet.load(database, version, settings);
  await Promise.allSettled(roles.map((role) => apis.of(role)));
  observe({ kind: 'schema-loaded', version, seconds: (performance.now() - start) / 1000 });
  return { apis, fingerprint };
}

function mayBeOutdated(error: unknown): boolean {
  if (error instanceof RequestErrors) return true;
  if (!(error instanceof ApiError)) return false;
  return ['GRAPHQL_VALIDATION_FAILED', 'SCHEMA_ERROR', 'BAD_USER_INPUT'].includes(error.code) || undefinedObject.has(error.details['sqlstate']);
}
