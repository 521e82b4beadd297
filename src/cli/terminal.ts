/** How text for a person looks on a terminal. Where it is piped, or `NO_COLOR` says so, it stays plain. */
import { styleText } from 'node:util';

/** Styles a text, if the stream that it is for shows styles. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'cyan', text: string) => string;

/** The styles of a stream. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** Writes a warning to standard error, whatever the level of the log. */
export function warn(message: string): void {
  process.stderr.write(`rowgraph: ${paintFor(process.stderr)('yellow', 'WARNING')}: ${message}\n`);
}
