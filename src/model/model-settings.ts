/** Settings that shape every role's model. */

import type { Additions } from './additions.ts';

export interface ModelSettings {
  /** The name of the global row identifier, in rows, filters and the argument of `node`. Default: nodeId, as in pg_graphql. */
  readonly nodeIdField?: 'nodeId' | 'id' | undefined;
  /** Whether insert inputs require columns that are NOT NULL and have no default. Default: false, as in pg_graphql. */
  readonly requiredInputs?: boolean | undefined;
  /** Additions to pg_graphql's schema, unless comment directives switch them off. Default: all. */
  readonly additions?: Additions | undefined;
}
