/** The limits of a graph, from the settings. */

import { type LimitBase, type LimitSettingName, type LimitSettings, limitNames, limitSettingOf } from '../budget/limits.ts';
import type { RowgraphOptions } from '../index.ts';

export type LimitConfiguration = Readonly<Record<LimitSettingName, number | 'off' | undefined>> & {
  readonly limits: LimitBase;
  readonly unlimitedRoles: readonly string[];
};

/** The options of `createRowgraph` that limit what a request may cost. */
export function limitOptionsOf(configuration: LimitConfiguration): Required<Pick<RowgraphOptions, 'limits' | 'roleLimits'>> {
  const single = Object.fromEntries(limitNames.map((name) => [name, configuration[limitSettingOf(name)]]));
  const limits: LimitSettings = { base: configuration.limits, ...single };
  return { limits, roleLimits: Object.fromEntries(configuration.unlimitedRoles.map((role) => [role, 'off'])) };
}
