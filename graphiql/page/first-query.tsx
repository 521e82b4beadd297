/** Fills an empty editor, once, with a query that works on this schema. */
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { writeFirstQuery } from './write-first-query.ts';

export function FirstQuery() {
  const schema = useGraphiQL(({ schema }) => schema);
  const queryEditor = useGraphiQL(({ queryEditor }) => queryEditor);
  const isDone = useRef(false);
  useEffect(() => {
    if (isDone.current || !schema || queryEditor === undefined) return;
    isDone.current = true;
    if (queryEditor.getValue().trim() === '') queryEditor.setValue(writeFirstQuery(schema));
  }, [schema, queryEditor]);
  return null;
}
