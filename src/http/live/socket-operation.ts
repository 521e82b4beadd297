/** One operation on a WebSocket: a query or a mutation, which has one answer, or a subscription. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Identity } from '../../auth/authenticate.ts';
import { Deadline } from '../../budget/deadline.ts';
import type { Caller } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import { admitCaller, admitRequest, beginTimes, countRequest, describeRun, largeBody } from '../endpoint/begin-request.ts';
import { toReportedErrors } from '../endpoint/error-response.ts';
import type { Exchange, MessageSocket } from '../endpoint/exchange.ts';
import { openAnswers, type Run } from '../endpoint/execute-request.ts';
import type { RequestTimes } from '../endpoint/request-times.ts';
import type { EncodedAnswer, Holder } from './encoded-answer.ts';
import { type Answers, LiveOperation, type Receiver } from './live-operation.ts';
import type { LiveParts } from './live-wish.ts';
import { MessageExchange } from './message-exchange.ts';

interface Subscribe {
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly requestId: string;
  /** Of the message, in bytes. */
  readonly length: number;
}

interface Place {
  readonly parts: LiveParts;
  readonly socket: MessageSocket;
  /** That of the handshake. */
  readonly exchange: Exchange;
  readonly holder: Holder;
}

const answerEnd = Buffer.from('}');

export class SocketOperation implements Receiver {
  readonly #message: Subscribe;
  readonly #place: Place;
  readonly #send: (text: string) => void;
  readonly #prefix: Buffer;
  #operation: LiveOperation | null = null;
  /** Goes on as the caller with the latest token. Null before the first answer, and for queries and mutations, which run once. */
  #renew: ((identity: Identity, headers: IncomingHttpHeaders) => void) | null = null;
  /** Who has had a new token since it began. */
  #renewed: readonly [Identity, IncomingHttpHeaders] | null = null;
  /** While it waits for its first answer. */
  #exchange: MessageExchange | null = null;
  #times: RequestTimes | null = null;
  #isOver = false;

  constructor(message: Subscribe, place: Place, send: (text: string) => void) {
    this.#message = message;
    this.#place = place;
    this.#send = send;
    this.#prefix = Buffer.from(`{"id":${JSON.stringify(message.id)},"type":"next","payload":`);
  }

  /** Resolves when it is over. `onStarted` is called when it has its first answer, or will have none. Never rejects. */
  async run(identity: Identity, headers: IncomingHttpHeaders, onStarted: () => void): Promise<void> {
    const { admission, share, project } = this.#place.holder;
    const { length } = this.#message;
    // The request is kept as long as it runs, for callers with new tokens.
    admission.hold(share, project, length);
    await this.#run(identity, headers, onStarted);
    admission.hold(share, project, -length);
  }

  async #run(identity: Identity, headers: IncomingHttpHeaders, onStarted: () => void): Promise<void> {
    const { parts, holder } = this.#place;
    const { requestId } = this.#message;
    const { observe } = parts;
    const report = (error: unknown): readonly ApiError[] => toReportedErrors(error, requestId, observe);
    let answers: Answers;
    try {
      answers = await this.#open(identity, headers);
    } catch (error) {
      onStarted();
      return this.end(report(error));
    }
    const operation = new LiveOperation(answers, { receiver: this, holder, report });
    this.#operation = operation;
    if (this.#isOver) operation.stop();
    onStarted();
    if (answers.first.isLive !== true) return operation.run();
    const started = performance.now();
    observe({ kind: 'subscription-started', transport: 'websocket' });
    this.#renew = (...caller) => operation.replace(this.#open(...caller, operation.endCursor));
    if (this.#renewed !== null) this.#renew(...this.#renewed);
    await operation.run();
    observe({
      kind: 'subscription-ended',
      requestId,
      role: identity.caller.role,
      code: operation.code,
      transport: 'websocket',
      seconds: (performance.now() - started) / 1000,
      answers: operation.sent,
      bytes: operation.bytes,
      details: parts.detailedEvents ? this.#times : null,
    });
  }

  /** The client has a new token: from now on, the answers of a subscription are those for this caller. */
  serveAs(...caller: readonly [Identity, IncomingHttpHeaders]): void {
    this.#renewed = caller;
    this.#renew?.(...caller);
  }

  send(answer: EncodedAnswer, onSent: () => void): void {
    this.#place.socket.send(answer.between(this.#prefix, answerEnd), onSent);
  }

  end(errors: readonly ApiError[]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { id } = this.#message;
    this.#send(JSON.stringify(errors.length === 0 ? { id, type: 'complete' } : { id, type: 'error', payload: errors }));
  }

  /** The client wants no more of it, or has gone. */
  stop(): void {
    this.#isOver = true;
    this.#exchange?.abandon();
    this.#operation?.stop();
  }

  /** Counts as a request until the first answer is there. `after`: where a stream goes on. */
  async #open({ caller }: Identity, headers: IncomingHttpHeaders, after?: string): Promise<Answers> {
    const { parts, exchange: ofSocket } = this.#place;
    const { requestId } = this.#message;
    const { observe, requestTimeout, detailedEvents, rate } = parts;
    const exchange = new MessageExchange(ofSocket, requestId, headers);
    const started = performance.now();
    const times = beginTimes(exchange, started, parts);
    this.#exchange = exchange;
    this.#times = times;
    observe({ kind: 'request-started' });
    let code: ApiError['code'] | null = null;
    let bytes = 0;
    try {
      const admitted = admitRequest(exchange, parts);
      if (typeof admitted === 'string') throw new ApiError('OVERLOADED', admitted);
      if (rate !== null) await countRequest(exchange, rate);
      const client = admitCaller(caller, admitted);
      const deadline = new Deadline(requestTimeout);
      exchange.deadline = deadline;
      const answers = await this.#openInTurn(caller, { ...describeRun(exchange, deadline, client, times), after }, exchange);
      code = answers.first.errorCode;
      bytes = answers.first.length;
      return answers;
    } catch (error) {
      code = toReportedErrors(error, requestId, () => {})[0]!.code;
      throw error;
    } finally {
      if (this.#exchange === exchange) this.#exchange = null;
      exchange.close();
      const seconds = (performance.now() - started) / 1000;
      const details = detailedEvents ? times : null;
      observe({ kind: 'request-finished', requestId, role: caller.role, code, status: 200, seconds, bytes, details });
    }
  }

  /** As large bodies do, large messages wait for their turn. */
  async #openInTurn(caller: Caller, run: Run, exchange: MessageExchange): Promise<Answers> {
    const { parts } = this.#place;
    const { payload, length } = this.#message;
    const call = { caller, run, exchange, options: parts };
    if (length < largeBody) return openAnswers(payload, call);
    const refusal = exchange.refuseBytes();
    if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
    await parts.graph.loadRole?.(caller.role, run.deadline);
    return parts.largeBodies.run(run.client, length, run.deadline, (onPrepared) =>
      openAnswers(payload, { ...call, run: { ...run, onPrepared } }),
    );
  }
}
