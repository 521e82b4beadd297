/** The menus that choose the two callers. */
import { CallerChoice } from '../caller-choice.tsx';
import type { Pair } from './use-pair.ts';

const sides = { one: 'One caller', other: 'The other caller' } as const;

export function CallerPair({ pair }: { readonly pair: Pair }) {
  const choose = (side: keyof typeof sides) => (
    <fieldset className={`caller-choice ${side}`}>
      <legend>{sides[side]}</legend>
      <CallerChoice caller={pair[side]} choices={pair.choices} onChange={(caller) => pair.change(side, caller)} />
    </fieldset>
  );
  return (
    <div className="caller-pair">
      {choose('one')}
      <span className="caller-versus" aria-hidden="true">
        and
      </span>
      {choose('other')}
    </div>
  );
}
