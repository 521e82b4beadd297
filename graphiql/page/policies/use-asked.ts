/** Asks for something whenever the text that stands for it changes; an answer that arrives after the next question is dropped. */
import { useEffect, useState } from 'react';

export interface Asked<Answer> {
  /** Undefined until it has arrived. */
  readonly answer?: Answer;
  readonly error?: string;
}

/** `ask` is called again when `question` or `source` changes, and must depend on nothing else; null asks for nothing. */
export function useAsked<Answer>(question: string, source: object, ask: (() => Promise<Answer>) | null): Asked<Answer> {
  const [settled, setSettled] = useState<Asked<Answer> & { readonly question: string; readonly source: object | null }>({
    question: '',
    source: null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the function is another one each time.
  useEffect(() => {
    let isLate = false;
    ask?.().then(
      (answer) => !isLate && setSettled({ question, source, answer }),
      (error: Error) => !isLate && setSettled({ question, source, error: error.message }),
    );
    return () => {
      isLate = true;
    };
  }, [question, source]);
  return settled.question === question && settled.source === source ? settled : {};
}
