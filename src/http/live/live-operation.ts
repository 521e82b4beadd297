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
  #answers: Answers;
  #isOver = false;
  /** Called when the answer on its way has been sent; null if there is none. */
  #onSent: (() => void) | null = null;
  /** Answers and bytes that have been handed over. */
  sent = 0;
  bytes = 0;
  /** Why it ended; null if it completed, or its client ended it. */
  code: ErrorCode | null = null;

  constructor(answers: Answers, options: LiveOptions) {
    this.#answers = answers;
    this.#options = options;
  }

  /** Resolves when it has ended. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      const answers = this.#answers;
      try {
        await this.#deliver(answers.first);
        await this.#deliverFollowing(answers);
        if (this.#answers === answers) this.#end([]);
      } catch (error) {
        if (this.#answers === answers) this.#end(this.#options.report(error));
      }
    }
  }

  /** Goes on with other answers, of a caller who has a new token. */
  replace(answers: Answers): void {
    const before = this.#answers;
    this.#answers = answers;
    if (this.#isOver) close(answers);
    else close(before);
  }

  /** The server ends it. */
  fail(...errors: readonly ApiError[]): void {
    this.#end(errors);
  }

  /** The client has ended it, or is gone. */
  stop(): void {
    if (!this.#isOver) this.#close();
  }

  async #deliverFollowing(answers: Answers): Promise<void> {
    while (!this.#isOver && this.#answers === answers) {
      const { value, done } = await answers.following.next();
      if (done || this.#isOver || this.#answers !== answers) return;
      await this.#deliver(value);
    }
  }

  #deliver(response: RawResponse): Promise<void> {
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
        this.sent += 1;
        this.bytes += answer.length;
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
function close({ following }: Answers): void {
  following.return?.().catch(() => {});
}
