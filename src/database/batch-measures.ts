/** How long batches take, and how many bytes they return. In: each batch that PostgreSQL has answered; out: the distributions. */
import { byteBounds, Distribution, secondBounds } from '../distribution.ts';

export class BatchMeasures {
  readonly batchSeconds = new Distribution(secondBounds);
  readonly batchBytes = new Distribution(byteBounds);

  note(millis: number, bytes: number): void {
    this.batchSeconds.note(millis / 1000);
    this.batchBytes.note(bytes);
  }
}
