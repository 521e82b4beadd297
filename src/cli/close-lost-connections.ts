/**
 * Closes connections that were on their way to a worker when it died. `node:cluster` sends a worker one connection at a time and closes its own copy when the
 * worker has it; of a worker that dies before, it keeps the copy open for ever, and the client waits as long.
 *
 * Leans on undocumented messages of `node:cluster` (`test/contracts/node.test.ts`): `newconn` with a handle and a `seq`, and the response `ack` with the
 * same number.
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

/** Watches a worker from its start. */
export function closeLostConnections(worker: Worker): void {
  const sent = new Map<number, Handle>();
  const channel = worker.process as unknown as { send: Send };
  const send = channel.send;
  channel.send = function (message, handle, ...rest) {
    if (message?.act === 'newconn' && message.seq !== undefined && handle) sent.set(message.seq, handle);
    return send.call(this, message, handle, ...rest);
  };
  // Whether it took the connection or not: then it is not on its way any more.
  worker.process.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) sent.delete(ack);
  });
  // After 'exit', as all that the worker has said is read by then.
  worker.process.once('close', () => {
    for (const handle of sent.values()) handle.close();
    sent.clear();
  });
  // A worker that dies while it is written to; what follows is its exit.
  worker.on('error', () => undefined);
}
