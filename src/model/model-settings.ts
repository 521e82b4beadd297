/** What the settings decide about the shape of every role's model. */

import type { Additions } from './additions.ts';

export interface ModelSettings {
  /** The name of the global identifier of rows, in rows, filters and the argument of `node`. Default: nodeId, as in pg_graphql. */
  readonly nodeIdField?: 'nodeId' | 'id' | undefined;
  /** Whether inputs of inserts require the columns that are NOT NULL and that nothing fills in. Default: false, as in pg_graphql. */
  readonly requiredInputs?: boolean | undefined;
  /** What tables have beyond pg_graphql's schema, unless comment directives switch it off. Default: all additions. */
  readonly additions?: Additions | undefined;
}
