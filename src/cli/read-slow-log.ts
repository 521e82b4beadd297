/**
 * Reads the slow operations in a log. In: the text of the log, one JSON object per line; out: the documents, once per operation and role,
 * with how often each was slow and for how long. Other lines are skipped.
 */
import type { AdvisedDocument } from './advise-documents.ts';

/** The message of these lines, as `telemetry/write-event.ts` writes it. */
const message = 'slow operation';

/** The operations, in the order in which they first appear. Throws an `Error` if the log has none. */
export function readSlowLog(text: string): AdvisedDocument[] {
  const found = new Map<string, AdvisedDocument>();
  for (const line of text.split('\n')) {
    const entry = readLine(line);
    if (entry === null) continue;
    const key = JSON.stringify([entry.text, entry.operationName, entry.role]);
    const known = found.get(key);
    const milliseconds = (known?.milliseconds ?? 0) + (entry.milliseconds ?? 0);
    // Keeps the values of the last line: those of the slowest are no more typical.
    found.set(key, { ...entry, count: (known?.count ?? 0) + 1, milliseconds });
  }
  if (found.size === 0) throw new Error('the log has no slow operations; start the server with --slow-operations');
  return [...found.values()];
}

function readLine(line: string): AdvisedDocument | null {
  if (!line.includes(message)) return null;
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
  const { msg, document, documentHash, operation, variables, role, milliseconds } = entry ?? {};
  if (msg !== message || typeof document !== 'string') return null;
  return {
    id: textOf(documentHash)?.slice(0, 12) ?? 'unnamed operation',
    text: document,
    operationName: textOf(operation),
    variables: typeof variables === 'object' && variables !== null ? (variables as Record<string, unknown>) : undefined,
    role: textOf(role),
    count: 1,
    milliseconds: typeof milliseconds === 'number' ? milliseconds : null,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
