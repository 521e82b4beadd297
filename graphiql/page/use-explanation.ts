/**
 * Asks the server how the last request runs, once a tab needs it. Queries are measured. A mutation is measured only if the user asks for
 * it: its transaction is rolled back, but effects of triggers and functions outside of the transaction remain.
 */
import { useEffect, useState } from 'react';
import type { Explanation } from '../../src/explain/explanation.ts';
import { callerOf } from './decode-token.ts';
import type { Exchange } from './last-exchange.ts';
import type { PageBackend } from './page-backend.ts';
import { usePage } from './page-context.ts';

export type ExplanationState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'explained'; readonly explanation: Explanation };

const waiting: ExplanationState = { kind: 'waiting' };

interface Known {
  readonly exchange: Exchange;
  readonly state: ExplanationState;
}

/** The state of the explanation, and a function that measures a mutation. */
export function useExplanation(
  exchange: Exchange | null,
  isWanted: boolean,
): { readonly state: ExplanationState; readonly measure: () => void } {
  const { backend } = usePage();
  const [known, setKnown] = useState<Known | null>(null);
  const isKnown = known?.exchange === exchange;
  useEffect(() => {
    if (!isWanted || exchange === null || backend === null || isKnown) return;
    let isLate = false;
    void explain(backend, exchange, false).then((state) => {
      if (!isLate) setKnown({ exchange, state });
    });
    return () => {
      isLate = true;
    };
  }, [backend, exchange, isWanted, isKnown]);
  const measure = (): void => {
    if (exchange === null || backend === null) return;
    void explain(backend, exchange, true).then((state) => setKnown({ exchange, state }));
  };
  return { state: isKnown && known !== null ? known.state : waiting, measure };
}

async function explain(backend: PageBackend, exchange: Exchange, isMeasured: boolean): Promise<ExplanationState> {
  const { query, variables, operationName, requestHeaders } = exchange;
  const request = { query, variables: variables ?? null, operationName, ...callerOf(requestHeaders) };
  try {
    const planned = await backend.explain({ ...request, mode: isMeasured ? 'analyze' : 'plan' });
    if (isMeasured || planned.operation.kind === 'mutation') return { kind: 'explained', explanation: planned };
    return { kind: 'explained', explanation: await backend.explain({ ...request, mode: 'analyze' }) };
  } catch (error) {
    return { kind: 'failed', message: (error as Error).message };
  }
}
