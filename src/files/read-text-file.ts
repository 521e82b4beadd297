/** Reads a settings file whose path may lead to anything: rejects folders, pipes and huge files. In: its path; out: its text. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

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
