/** Puts a query into the editor: into the open tab if it is empty, otherwise into a new one. */
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';

/** The function that does it; `variables` is JSON, '' for none. */
export function useOpenQuery(): (query: string, variables?: string) => void {
  const { addTab } = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  return (query, variables = '') => {
    if (queryEditor?.getValue().trim() !== '') addTab();
    queryEditor?.setValue(query);
    variableEditor?.setValue(variables);
  };
}
