/** Shown in a view of the schema while the schema is missing, or if it could not be read: why, and a button to try again. */
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';

export function SchemaNotice() {
  const schema = useGraphiQL((state) => state.schema);
  const error = useGraphiQL((state) => state.fetchError);
  const isReading = useGraphiQL((state) => state.isIntrospecting);
  const { introspect } = useGraphiQLActions();
  if (error !== null && !isReading)
    return (
      <div className="part-notice" role="alert">
        <p>The schema could not be read: {readMessage(error)}</p>
        <button type="button" className="page-button" onClick={() => void introspect()}>
          Try again
        </button>
      </div>
    );
  return schema ? null : (
    <p className="part-notice" role="status">
      Reading the schema …
    </p>
  );
}

/** GraphiQL stores the response as formatted JSON. */
function readMessage(text: string): string {
  try {
    const { errors = [], message = text } = JSON.parse(text) as { errors?: readonly { message: string }[]; message?: string };
    return errors.length > 0 ? errors.map((each) => each.message).join(' ') : message;
  } catch {
    return text;
  }
}
