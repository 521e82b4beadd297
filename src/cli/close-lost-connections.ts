/**
 * Closes connections that were on their way to a worker when it died. `node:cluster` passes connections to a worker, and closes its own
 * copy once the worker has acknowledged it. If the worker dies before that, the copy stays open for ever and the client keeps waiting.
 *
 * Relies on undocumented messages of `node:cluster` (`test/contracts/node.test.ts`): `newconn` with a handle and a `seq`, and the response
 * `ack` with the same number.
 */
import type { Worker } from 'node:cluster';

interface Handle {
  close(): void;
}

interface ClusterMessage {
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

type Send = (message: ClusterMessage, handle?: Handle, ...rest: unknown[]) => boolean;

/** Must be called when the worker starts. */
export function closeLostConnections(worker: Worker): void {
  const sent = new Map<number, Handle>();
  const channel = worker.process as unknown as { send: Send };
  const send = channel.send;
  channel.send = function (message, handle, ...rest) {
    if (message?.act === 'newconn' && message.seq !== undefined && handle) sent.set(message.seq, handle);
    return send.call(this, message, handle, ...rest);
  };
  // Acknowledged, whether the worker accepted the connection or not.
  worker.process.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) sent.delete(ack);
  });
  // Later than 'exit': by then all messages from the worker have been read.
  worker.process.once('close', () => {
    for (const handle of sent.values()) handle.close();
    sent.clear();
  });
  // A worker may die while it is written to; its 'exit' follows.
  worker.on('error', () => undefined);
}
