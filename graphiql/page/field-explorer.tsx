/**
 * Builds a query by clicks and keys: a tree of the schema's fields and arguments, in which those of an operation are checked. What is checked
 * is added to the text of the editor, or removed from it; the rest of the text stays as it is.
 */
import { useGraphiQL, useOperationsEditorState, useOptimisticState } from '@graphiql/react';
import type { GraphQLSchema, OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { useMemo, useState } from 'react';
import { ExplorerTree } from './explorer-tree.tsx';
import { emptyOperation, isEmptyOperation, type OperationsText, readOperations, writeOperation } from './operations-text.ts';
import { SchemaNotice } from './schema-notice.tsx';

export function FieldExplorer() {
  const schema = useGraphiQL((state) => state.schema);
  const operationName = useGraphiQL((state) => state.operationName);
  const [text, setText] = useOptimisticState(useOperationsEditorState());
  const read = useMemo(() => readOperations(text), [text]);
  const [search, setSearch] = useState('');
  if (!schema) return <SchemaNotice />;
  if ('error' in read) return <p className="part-notice">Correct the document first: {read.error}</p>;
  return (
    <section className="explorer" aria-label="Explorer">
      <h2 className="panel-title">Explorer</h2>
      <input
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <Operations {...{ schema, read, search, text, setText }} named={operationName} />
    </section>
  );
}

interface OperationsProps {
  readonly schema: GraphQLSchema;
  readonly read: OperationsText;
  readonly search: string;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** The operation at the cursor of the editor. */
  readonly named: string | undefined;
}

function Operations({ schema, read, search, text, setText, named }: OperationsProps) {
  const kinds = useMemo(() => rootKinds(schema), [schema]);
  const [chosen, setChosen] = useState<number | null>(null);
  const [draft, setDraft] = useState<Draft | null>(null);
  const atCursor = read.operations.findIndex(({ name }) => name !== undefined && name.value === named);
  const index = chosen !== null && chosen < read.operations.length ? chosen : Math.max(0, atCursor);
  // A draft is of the text beside it: another tab, or what the user types, ends it.
  const drafted = draft?.text === text ? draft.operation : null;
  const written = drafted === null ? (read.operations[index] ?? null) : null;
  const operation = drafted ?? written ?? emptyOperation(kinds[0] ?? ('query' as OperationTypeNode));
  const begin = (kind: OperationTypeNode): void => setDraft({ text, operation: emptyOperation(kind, nextName(kind, read)) });
  const change = (changed: OperationDefinitionNode): void => {
    const kept = isEmptyOperation(changed) ? null : changed;
    const next = written === null && kept === null ? text : writeOperation(text, read, written, kept);
    setDraft(kept === null ? { text: next, operation: changed } : null);
    setChosen(written === null ? read.operations.length : index);
    setText(next);
  };
  return (
    <>
      {drafted !== null && (
        <p className="field-hint">
          A new {drafted.operation}, {drafted.name?.value}: choose its first field.
        </p>
      )}
      {drafted === null && read.operations.length > 1 && (
        <label className="explorer-operations">
          Operation{' '}
          <select value={index} onChange={({ target }) => setChosen(Number(target.value))}>
            {read.operations.map(({ name, operation: kind }, place) => (
              <option key={place} value={place}>
                {kind} {name?.value ?? '(without a name)'}
              </option>
            ))}
          </select>
        </label>
      )}
      <ExplorerTree schema={schema} operation={operation} search={search} onChange={change} />
      <div className="explorer-buttons">
        {kinds.map((kind) => (
          <button key={kind} type="button" className="page-button" onClick={() => begin(kind)}>
            Add a {kind}
          </button>
        ))}
      </div>
    </>
  );
}

/** An operation without fields, which GraphQL cannot write: it is kept here until it has one. */
interface Draft {
  readonly operation: OperationDefinitionNode;
  /** What is in the editor meanwhile. */
  readonly text: string;
}

function rootKinds(schema: GraphQLSchema): readonly OperationTypeNode[] {
  const kinds = ['query', 'mutation', 'subscription'] as readonly OperationTypeNode[];
  return kinds.filter((kind) => schema.getRootType(kind));
}

/** A name that no operation of the document has. */
function nextName(kind: OperationTypeNode, { operations }: OperationsText): string {
  const names = new Set(operations.map(({ name }) => name?.value));
  const plain = `My${kind[0]!.toUpperCase()}${kind.slice(1)}`;
  const numbers = Array.from({ length: names.size + 1 }, (_, index) => (index === 0 ? plain : `${plain}${index + 1}`));
  return numbers.find((name) => !names.has(name)) ?? plain;
}
