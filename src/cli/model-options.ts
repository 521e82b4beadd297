/** The settings that shape the schema, which every command takes that builds one. In: a configuration; out: options of `createRowgraph`. */
import type { Configuration } from './config.ts';

export const modelSettingNames = ['dialect', 'additions', 'nodeIdField', 'requiredInputs'] as const;

/** These settings alone. */
export function modelOptionsOf({ dialect, additions, nodeIdField, requiredInputs }: Configuration<(typeof modelSettingNames)[number]>) {
  return { dialect, additions, nodeIdField, requiredInputs };
}
