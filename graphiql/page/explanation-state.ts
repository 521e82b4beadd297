/** The state of the explanation of the last request. Types only. */
import type { Explanation } from '../../src/explain/explanation.ts';

export type ExplanationState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'explained'; readonly explanation: Explanation };
