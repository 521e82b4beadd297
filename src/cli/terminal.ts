/** Styles text for people on a terminal. It stays plain if it is piped, or if `NO_COLOR` says so. */
import { styleText } from 'node:util';

/** Styles a text, if its stream is a terminal that shows styles. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'cyan', text: string) => string;

/** The styles of a stream. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** Writes a warning to standard error, whatever the log level. */
export function warn(message: string): void {
  process.stderr.write(`rowgraph: ${paintFor(process.stderr)('yellow', 'WARNING')}: ${message}\n`);
}
