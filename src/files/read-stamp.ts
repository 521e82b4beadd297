/** Detects whether files have changed, including replaced files. In: their paths; out: a text that differs after any change. */
import { stat } from 'node:fs/promises';

/** Rejects if one of the files is missing. */
export async function readStamp(files: readonly string[]): Promise<string> {
  const stamps = files.map(async (file) => {
    const { ino, size, mtimeMs, ctimeMs } = await stat(file);
    return `${file} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  });
  return (await Promise.all(stamps)).join('\n');
}
