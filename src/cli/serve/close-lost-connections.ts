/**
 * Closes connections that were on their way to a worker when it died or stopped listening. `node:cluster` passes connections to a worker,
 * and closes its own copy once the worker has accepted it. If the worker dies before that, or rejects it when no other worker listens, the
 * copy stays open for ever and the client keeps waiting.
 *
 * Relies on undocumented messages of `node:cluster` (`test/contracts/node.test.ts`): `newconn` with a handle and a `seq`, and the response
 * `ack` with the same number, and `accepted`.
 */
import type { Worker } from 'node:cluster';

interface Handle {
  close(): void;
}

interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
  readonly accepted?: boolean;
}

type Send = (message: ClusterMessage, handle?: Handle, ...rest: unknown[]) => boolean;

/** Must be called when the worker starts. `isListening`: whether any worker takes connections that another one rejects. */
export function closeLostConnections(worker: Worker, isListening: () => boolean): void {
  const sent = new Map<number, Handle>();
  const channel = worker.process as unknown as { send: Send };
  const send = channel.send;
  channel.send = function (message, handle, ...rest) {
    if (message?.act === 'newconn' && message.seq !== undefined && handle) sent.set(message.seq, handle);
    return send.call(this, message, handle, ...rest);
  };
  worker.process.on('internalMessage', ({ ack, accepted }: ClusterMessage) => {
    if (ack === undefined) return;
    if (accepted === false && !isListening()) sent.get(ack)?.close();
    sent.delete(ack);
  });
  // Later than 'exit': by then all messages from the worker have been read.
  worker.process.once('close', () => {
    for (const handle of sent.values()) handle.close();
    sent.clear();
  });
  // A worker may die while it is written to; its 'exit' follows.
  worker.on('error', () => undefined);
}
