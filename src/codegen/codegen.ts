/** rowgraph's scalars for GraphQL Code Generator (`rowgraph/codegen`). Depends on no package. */

import { scalars as columnScalars, type ScalarName, scalarNames } from '../model/types/scalars.ts';

/** The TypeScript types of a scalar: of what a client may send, and of what it receives. */
export interface ScalarTypes {
  readonly input: string;
  readonly output: string;
}

export type CustomScalar = Exclude<ScalarName, 'Int' | 'Float' | 'String' | 'Boolean'> | 'Cursor';

const ofColumns = scalarNames.flatMap((name) => {
  const { typescript } = columnScalars[name];
  return typescript ? [[name, typescript] as const] : [];
});

/** The scalars' JSON types. docs/scalars.md describes the format of the strings. */
export const scalars = Object.fromEntries([...ofColumns, ['Cursor', { input: 'string', output: 'string' }]]) as Readonly<
  Record<CustomScalar, ScalarTypes>
>;

/**
 * Types to which a client's own code converts scalars, such as `{ Datetime: 'Date' }` or `{ BigInt: { input: 'bigint', output: 'bigint' }
 * }`, and the types of domains: `{ email: 'string' }`.
 */
export type RicherTypes = Readonly<Partial<Record<CustomScalar, string | ScalarTypes>> & Record<string, string | ScalarTypes | undefined>>;

export interface ScalarConfig {
  readonly scalars: Readonly<Record<CustomScalar, ScalarTypes>>;
  /** The type of other scalars, which are those of domains. */
  readonly defaultScalarType: 'unknown';
}

/** The `config` of the plugins that write types. */
export function scalarConfig(richer: RicherTypes = {}): ScalarConfig {
  const own = Object.entries(richer).map(([name, type]) => [name, typeof type === 'string' ? { input: type, output: type } : type]);
  return { scalars: { ...scalars, ...Object.fromEntries(own) }, defaultScalarType: 'unknown' };
}

/** The part of a preset of GraphQL Code Generator that is used here. */
interface Preset {
  // biome-ignore lint/suspicious/noExplicitAny: the options are the generator's, whose types would make it a dependency.
  buildGeneratesSection(options: any): unknown;
}

/** A preset, such as the client preset, with these scalars. Scalars in the preset's own `config` take precedence. */
export function withScalars<Base extends Preset>(preset: Base, richer: RicherTypes = {}): Base {
  const known = scalarConfig(richer);
  return {
    ...preset,
    buildGeneratesSection: (options: { readonly config?: { readonly scalars?: object } }) => {
      const config = { ...known, ...options.config, scalars: { ...known.scalars, ...options.config?.scalars } };
      return preset.buildGeneratesSection({ ...options, config });
    },
  };
}
