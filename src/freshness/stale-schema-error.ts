/** A batch was compiled for an outdated schema. None of it ran, so it may be recompiled and run again. */
export class StaleSchemaError extends Error {
  constructor(cause?: Error) {
    super('The schema has changed', { cause });
    this.name = 'StaleSchemaError';
  }
}

/** A request is for a table that has changed since the schema was loaded. It needs a newer snapshot. */
export class SuspectTableError extends StaleSchemaError {}
