/** The answers of a subscription, as GraphiQL reads them: the events of a stream, one after the other, until somebody stops. */
import { readText } from '../reach-server.ts';
import type { LiveAnswers } from './live-answers.ts';
import { joinRows } from './stream-answers.ts';

/** An event, and what follows it. */
const event = /^([\s\S]*?)\n\n/;

/** Reads the response. `stop` ends the request. What is read is written down in `live`. `stream`: the key of a stream, whose rows add up. */
export function followAnswers(
  response: Response,
  stop: () => void,
  live: LiveAnswers,
  stream: string | null = null,
): AsyncIterableIterator<object> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let isOver = false;
  let shown: object | null = null;
  const end = (): IteratorResult<object> => {
    if (!isOver) live.end();
    isOver = true;
    stop();
    return { value: undefined, done: true };
  };
  const next = async (): Promise<IteratorResult<object>> => {
    while (!isOver) {
      const [found, lines = ''] = event.exec(text) ?? [];
      if (found !== undefined) {
        text = text.slice(found.length);
        const fields = readFields(lines);
        if (fields.event === 'complete') return end();
        if (fields.event !== 'next' || fields.data === undefined) continue;
        const read = readText(fields.data);
        const answer = stream === null ? read : joinRows(shown, read, stream);
        if (!('errors' in answer)) shown = answer;
        live.note(answer);
        return { value: answer, done: false };
      }
      const { value, done } = await reader.read();
      if (done) return end();
      text += value;
    }
    return end();
  };
  const iterator: AsyncIterableIterator<object> = {
    // Stopping ends the request, and with it what is being read.
    next: () => next().catch(end),
    return: async () => end(),
    [Symbol.asyncIterator]: () => iterator,
  };
  live.begin(() => void end());
  return iterator;
}

function readFields(lines: string): Readonly<Record<string, string>> {
  const fields = lines.split('\n').map((line): [string, string] => {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    return [name, value];
  });
  return Object.fromEntries(fields);
}
