/** The database of `rowgraph dev` with its graph, which another one replaces when the SQL files that it was loaded from change. */
import { openDatabase } from '../../database/open-database.ts';
import type { Observer } from '../../events.ts';
import { installExtension } from '../../extension/install-extension.ts';
import { installLiveAtOnce } from '../../extension/install-live.ts';
import { readStamp, WatchedFiles } from '../../files/watched-files.ts';
import { createRowgraph } from '../../index.ts';
import { explainLoadError } from '../check-database.ts';
import { type DevelopmentConfiguration, graphOptionsOf } from '../command-settings.ts';
import { AwaitedGraph } from '../serve/awaited-graph.ts';
import { AccessNotes } from './access-notes.ts';
import type { DevelopmentSubject } from './development-backend.ts';
import type { DevelopmentDatabase } from './development-database.ts';
import { type SqlFile, textOf } from './load-sql.ts';

export interface Closable {
  close(): Promise<void>;
}

interface Opened extends DevelopmentSubject {
  readonly database: DevelopmentDatabase;
  readonly access: AccessNotes;
}

/** The database with its graph. Another database can take its place, which requests then use. */
export class ServedDatabase {
  readonly graph = new AwaitedGraph();
  readonly observe: Observer;
  readonly #configuration: DevelopmentConfiguration;
  /** Begins anew with each process, after which the schema may be another. */
  readonly #start = Date.now();
  #changes = 0;
  #current: Opened | null = null;

  private constructor(configuration: DevelopmentConfiguration, observe: Observer) {
    this.#configuration = configuration;
    this.observe = (event) => {
      if (event.kind === 'schema-loaded') this.#changes += 1;
      observe(event);
    };
  }

  /** Closes the database if its schema cannot be loaded. */
  static async open(database: DevelopmentDatabase, configuration: DevelopmentConfiguration, observe: Observer): Promise<ServedDatabase> {
    const served = new ServedDatabase(configuration, observe);
    await served.replace(database, async () => {});
    return served;
  }

  get current(): Opened {
    if (this.#current === null) throw new Error('The database is not open yet');
    return this.#current;
  }

  get schemaVersion(): string {
    return `${this.#start}-${this.#changes}`;
  }

  /** `leave` ends what still uses the previous database, which is closed afterwards. */
  async replace(database: DevelopmentDatabase, leave: () => Promise<unknown>): Promise<void> {
    const previous = this.#current;
    this.#current = await this.#load(database);
    this.graph.open(this.#current.graph);
    this.#changes += 1;
    await leave();
    if (previous !== null) await closeOpened(previous);
  }

  /** What the user should know of the API as it is now. */
  async describe(): Promise<string[]> {
    const { access, database, graph } = this.current;
    const isExample = database.kind === 'embedded' && database.isExample;
    return [
      ...(await access.describe(graph)),
      ...(isExample ? [] : [...(await access.describeOpen()), ...(await access.describeUnreadable())]),
    ];
  }

  close(): Promise<void> {
    return closeOpened(this.current);
  }

  async #load(database: DevelopmentDatabase): Promise<Opened> {
    const { schemas, anonRole, schemaTriggers } = this.#configuration;
    const isOwn = database.kind === 'own';
    const access = new AccessNotes(database.reader, { schemas, anonRole, isOwn });
    try {
      if (!isOwn && this.#configuration.live !== 'off') await announceChanges(database.pglite);
      const graph = await createRowgraph({
        ...graphOptionsOf(this.#configuration),
        database: isOwn ? database.url : database.pglite,
        schemaTriggers: schemaTriggers || !isOwn,
        observe: reportChanges(access, this.observe),
      });
      return { database, reader: database.reader, jwtSecret: database.jwtSecret, access, graph };
    } catch (error) {
      await database.close();
      throw isOwn ? explainLoadError(error, { databaseUrl: database.url, schemaTriggers, login: database.login.role }) : error;
    }
  }
}

/** Has the embedded database announce changes of its rows. */
async function announceChanges(pglite: object): Promise<void> {
  const database = openDatabase(pglite, { observe: () => undefined });
  await installExtension(database);
  await installLiveAtOnce(database, 'notify');
}

async function closeOpened({ graph, database }: Opened): Promise<void> {
  await graph.close();
  await database.close();
}

/** An observer that also reports on the terminal when a schema change leaves something out of the API. */
function reportChanges(access: AccessNotes, observe: Observer): Observer {
  let reporting: Promise<void> = Promise.resolve();
  const report = async (): Promise<void> => {
    for (const line of await access.describeChange()) process.stderr.write(`${line}\n`);
  };
  return (event) => {
    observe(event);
    // Errors are ignored: the database may be closing.
    if (event.kind === 'schema-loaded') reporting = reporting.then(report).catch(() => undefined);
  };
}

export interface ReloadedFiles {
  readonly names: readonly string[];
  readonly read: () => Promise<readonly SqlFile[]>;
  /** Opens a new database with what the files have now. */
  readonly open: () => Promise<DevelopmentDatabase>;
}

/** How often the files are checked, in milliseconds. */
const reloadInterval = 300;

/** Opens a new database whenever the files have changed, and hands it over; if their SQL fails, says so. */
export async function reloadFiles(
  { names, read, open: openAgain }: ReloadedFiles,
  loaded: readonly SqlFile[],
  handOver: (database: DevelopmentDatabase) => Promise<readonly string[]>,
): Promise<Closable> {
  const say = (line: string): unknown => process.stderr.write(`${line}\n`);
  let latest = textOf(loaded);
  let reloading: Promise<void> = Promise.resolve();
  const reload = async (files: readonly SqlFile[]): Promise<void> => {
    const text = textOf(files);
    if (text === latest) return;
    latest = text;
    try {
      const hints = await handOver(await openAgain());
      for (const line of [`Loaded ${names.join(', ')} again; the API follows.`, ...hints]) say(line);
    } catch (error) {
      say(`rowgraph: ${(error as Error).message}`);
      say('The database and the API stay as they were.');
    }
  };
  const onLoad = (files: readonly SqlFile[]): void => {
    reloading = reloading.then(() => reload(files));
  };
  const onFailure = ({ message }: Error): unknown => say(`rowgraph: ${message}`);
  const watched = await WatchedFiles.open({ read, readStamp: () => readStamp(names), onLoad, onFailure }, reloadInterval);
  return {
    async close() {
      watched.stop();
      await reloading;
    },
  };
}
