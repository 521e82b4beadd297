/**
 * An operation whose answers go on: hands each to its client when the one before has been sent, so that a slow client holds at most one, and
 * is behind by one. Ends when the client or the server ends it.
 */
import { inTurn } from '../../budget/turns.ts';
import type { RawResponse } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { EncodedAnswer, type Holder } from './encoded-answer.ts';

/** Carries answers to the client. */
export interface Receiver {
  /** Hands over an answer, and calls back when the client's side has taken it, or is gone. Must not throw. */
  send(answer: EncodedAnswer, onSent: () => void): void;
  /** The operation has ended: with these errors, or completely if there are none. */
  end(errors: readonly ApiError[]): void;
}

/** The answers to a request: the first, and those that follow. */
export interface Answers {
  readonly first: RawResponse;
  readonly following: AsyncIterator<RawResponse>;
}

type AnswerSource = Answers | Promise<Answers>;

/** Of a request with a single answer. */
export const noMore: AsyncIterator<RawResponse> = { next: async () => ({ value: undefined, done: true }) };

interface LiveOptions {
  readonly receiver: Receiver;
  readonly holder: Holder;
  /** The errors that a client may see. */
  readonly report: (error: unknown) => readonly ApiError[];
}

export class LiveOperation {
  readonly #options: LiveOptions;
  #answers: AnswerSource;
  #isOver = false;
  /** Called when the answer on its way has been sent; null if there is none. */
  #onSent: (() => void) | null = null;
  /** Answers and bytes that have been handed over. */
  sent = 0;
  bytes = 0;
  /** Of a stream: the cursor of the last row that has been handed over. */
  endCursor: string | undefined;
  /** Why it ended; null if it completed, or its client ended it. */
  code: ErrorCode | null = null;

  constructor(answers: Answers, options: LiveOptions) {
    this.#answers = answers;
    this.#options = options;
  }

  /** Resolves when it has ended. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      const source = this.#answers;
      try {
        await this.#deliverAll(await source, source);
        if (this.#answers === source) this.#end([]);
      } catch (error) {
        if (this.#answers === source) this.#end(this.#options.report(error));
      }
    }
  }

  /** Goes on with other answers, of a caller who has a new token, and with none of those before. */
  replace(answers: Promise<Answers>): void {
    const before = this.#answers;
    this.#answers = answers;
    // It is awaited when what is on its way has been sent.
    answers.catch(() => {});
    close(this.#isOver ? answers : before);
  }

  /** The server ends it. */
  fail(...errors: readonly ApiError[]): void {
    this.#end(errors);
  }

  /** The client has ended it, or is gone. */
  stop(): void {
    if (!this.#isOver) this.#close();
  }

  async #deliverAll({ first, following }: Answers, source: AnswerSource): Promise<void> {
    let response = first;
    while (!this.#isOver && this.#answers === source) {
      await this.#deliver(response, source);
      const { value, done } = await following.next();
      if (done) return;
      response = value;
    }
  }

  #deliver(response: RawResponse, source: AnswerSource): Promise<void> {
    const { receiver, holder } = this.#options;
    const answer = EncodedAnswer.of(response);
    const refusal = answer.hold(holder);
    if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
    return new Promise((resolve) => {
      const onSent = (): void => {
        if (this.#onSent !== onSent) return;
        this.#onSent = null;
        answer.release();
        resolve();
      };
      this.#onSent = onSent;
      inTurn(() => {
        if (this.#isOver) return;
        if (this.#answers !== source) return onSent();
        this.sent += 1;
        this.bytes += answer.length;
        this.endCursor = response.endCursor ?? this.endCursor;
        receiver.send(answer, onSent);
      });
    });
  }

  #end(errors: readonly ApiError[]): void {
    if (this.#isOver) return;
    this.code = errors[0]?.code ?? null;
    this.#close();
    this.#options.receiver.end(errors);
  }

  #close(): void {
    this.#isOver = true;
    close(this.#answers);
    this.#onSent?.();
  }
}

/** Nobody waits for more answers. */
function close(answers: AnswerSource): void {
  if (answers instanceof Promise) void answers.then(close, () => {});
  else answers.following.return?.().catch(() => {});
}
