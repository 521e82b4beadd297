/** Reads an argument that must be one of a few words. */
import { CommandError } from './command-error.ts';

/** A parser for commander. Its message is like those for settings; `name` begins it: `the action`, `--grants`. */
export function choiceParser(name: string, choices: readonly string[]): (value: string) => string {
  const list = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices);
  return (value) => {
    if (!choices.includes(value)) throw new CommandError(`${name} must be ${list} (it is "${value}")`, 2);
    return value;
  };
}
