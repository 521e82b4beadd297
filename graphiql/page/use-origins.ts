/** The schema and the kind of each table, by its row type: only the backend of `rowgraph dev` says them. */
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useState } from 'react';
import type { TableOrigin } from './choose-tables.ts';
import { usePage } from './page-context.ts';

const none: ReadonlyMap<string, TableOrigin> = new Map();

export function useOrigins(): ReadonlyMap<string, TableOrigin> {
  const { backend } = usePage();
  const schema = useGraphiQL((state) => state.schema);
  const [origins, setOrigins] = useState(none);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new schema has other tables.
  useEffect(() => {
    let isLate = false;
    backend?.readAccess().then(
      ({ tables }) => {
        const known = tables.flatMap(({ typeName, schema: name, kind }) =>
          typeName === null ? [] : [[typeName, { schema: name, kind }] as const],
        );
        if (!isLate) setOrigins(new Map(known));
      },
      // The diagram goes without these limits.
      () => undefined,
    );
    return () => {
      isLate = true;
    };
  }, [backend, schema]);
  return origins;
}
