import { readFileSync } from 'node:fs';
import { CommandError, describeFileError } from '../command-error.ts';

/** What commands that take a GraphQL document share: reading the document, and JSON from flags. Throws `CommandError` for invalid input. */

/** A file name has no braces, as a rule, and every document has. */
const hintOf = (file: string): string =>
  file.includes('{') ? '. Give the name of a file with the document, or - and the document on standard input' : '';

/** The text of a file; `-` is standard input. */
export function readDocument(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${describeFileError(error)}${hintOf(file)}`, 2, error);
  }
}

/** The JSON object in a flag; undefined if the flag is not given. */
export function parseJsonObject(flag: string, text: string | undefined, example: string): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new CommandError(`${flag} must be a JSON object, such as ${example}`, 2);
}

/** Reads an argument that must be one of a few words. */

/** A parser for commander. Its message is like those for settings; `name` begins it: `the action`, `--grants`. */
export function choiceParser(name: string, choices: readonly string[]): (value: string) => string {
  const list = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices);
  return (value) => {
    if (!choices.includes(value)) throw new CommandError(`${name} must be ${list} (it is "${value}")`, 2);
    return value;
  };
}
