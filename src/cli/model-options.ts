/** The settings that shape the schema, for every command that builds one. In: a configuration; out: options of `createRowgraph`. */
import type { Configuration } from './settings.ts';

export const modelSettingNames = ['dialect', 'additions', 'nodeIdField', 'requiredInputs'] as const;

/** Picks these settings from a configuration. */
export function modelOptionsOf({ dialect, additions, nodeIdField, requiredInputs }: Configuration<(typeof modelSettingNames)[number]>) {
  return { dialect, additions, nodeIdField, requiredInputs };
}
