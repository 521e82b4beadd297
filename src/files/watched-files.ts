/** The content of files, read again when they change. While the files are broken or missing, the content read last stays in use. */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { isJsonObject } from '../errors/api-error.ts';

interface WatchedSource<Content> {
  /** The content. Rejects with an `Error` that says what is wrong with the files. */
  readonly read: () => Promise<Content>;
  /** Differs after any change of the files. */
  readonly readStamp: () => Promise<string>;
  /** Called each time the content has been read. */
  readonly onLoad: (content: Content) => void;
  /** Called once for each different reason why the content could not be read again. */
  readonly onFailure: (error: Error) => void;
}

/**
 * How often the files are checked. Polling also works on network file systems and for files that are replaced through symbolic links, where
 * notifications do not.
 */
const defaultInterval = 2000;

export class WatchedFiles<Content> {
  readonly #source: WatchedSource<Content>;
  readonly #timer: NodeJS.Timeout;
  #current: Content;
  #stamp: string;
  /** The problem of the last attempt, so that it is reported only once. */
  #problem: string | null = null;
  #check: Promise<void> | null = null;

  private constructor(source: WatchedSource<Content>, content: Content, stamp: string, interval: number) {
    this.#source = source;
    this.#current = content;
    this.#stamp = stamp;
    this.#timer = setInterval(() => void this.refresh(), interval);
    this.#timer.unref();
  }

  /** Reads the content, then checks for changes at this interval. Rejects with an `Error` that says what is wrong with the files. */
  static async open<Content>(source: WatchedSource<Content>, interval = defaultInterval): Promise<WatchedFiles<Content>> {
    // The stamp is read first, so files that change meanwhile are read again.
    const stamp = await source.readStamp();
    const content = await source.read();
    source.onLoad(content);
    return new WatchedFiles(source, content, stamp, interval);
  }

  get current(): Content {
    return this.#current;
  }

  /** Reads the files again if they have changed. Never rejects. */
  refresh(): Promise<void> {
    this.#check ??= this.#refresh().finally(() => {
      this.#check = null;
    });
    return this.#check;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #refresh(): Promise<void> {
    try {
      const stamp = await this.#source.readStamp();
      if (stamp === this.#stamp && this.#problem === null) return;
      const content = await this.#source.read();
      this.#current = content;
      this.#stamp = stamp;
      this.#problem = null;
      this.#source.onLoad(content);
    } catch (error) {
      const { message } = error as Error;
      if (message === this.#problem) return;
      this.#problem = message;
      this.#source.onFailure(error as Error);
    }
  }
}

/** Rejects if one of the files is missing. */
export async function readStamp(files: readonly string[]): Promise<string> {
  const stamps = files.map(async (file) => {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return `${file} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  });
  return (await Promise.all(stamps)).join('\n');
}

/**
 * The text of a regular file. Throws an `Error` that names the file if it is not one, cannot be read, or has more than `mostBytes` bytes.
 */
export async function readTextFile(file: string, mostBytes: number): Promise<string> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new Error(`${file} is not a regular file`);
    if (status.size > mostBytes) throw new Error(`${file} has ${status.size} bytes; at most ${mostBytes} are read`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** The value of a JSON text. Throws an `Error` that says where it is broken, but repeats nothing of it: it might be a key. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = / at position \d+( \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0] ?? '';
    throw new Error(`is not JSON${position}`);
  }
}

/** The members of the JSON object in a file, whose text this is. `content` says what they are, for the `Error` that names the file. */
export function readMembers(file: string, text: string, content: string): Readonly<Record<string, unknown>> {
  let members: unknown;
  try {
    members = readJson(text);
  } catch (error) {
    throw new Error(`${file} ${(error as Error).message}`);
  }
  if (!isJsonObject(members)) throw new Error(`${file} must hold a JSON object of ${content}`);
  return members;
}
