/**
 * The tree of the explorer, with the usual keys of a tree (https://www.w3.org/WAI/ARIA/apg/patterns/treeview/): arrows move, open and
 * close; Space and Enter check; Home, End and letters jump; Tab moves on to the value of an argument.
 */
import type { GraphQLSchema, OperationDefinitionNode, OperationTypeNode, ValueNode } from 'graphql';
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { addField, type FieldPath, findField, removeField, setValue } from './edit-operation.ts';
import { ExplorerItem } from './explorer-item.tsx';
import { writeField, writeValue } from './first-choice.ts';
import { type ExplorerLine, listExplorerLines, listReachable } from './list-explorer-lines.ts';
import { moveInTree } from './move-in-tree.ts';

interface ExplorerTreeProps {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly search: string;
  readonly onChange: (operation: OperationDefinitionNode) => void;
}

export function ExplorerTree({ schema, operation, search, onChange }: ExplorerTreeProps) {
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const found = useFound(schema, operation.operation, search);
  const lines = useMemo(() => listExplorerLines(schema, { operation, opened, found }), [schema, operation, opened, found]);
  const tree = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState('');
  const [isMoving, setIsMoving] = useState(false);
  const place = Math.max(
    0,
    lines.findIndex(({ id }) => id === current),
  );
  useEffect(() => {
    if (isMoving) tree.current?.querySelector<HTMLElement>('[tabindex="0"][role="treeitem"]')?.focus();
    setIsMoving(false);
  }, [isMoving]);
  const open = ({ id }: ExplorerLine, isOpen: boolean): void => setOpened(new Map([...opened, [id, isOpen]]));
  const follow = (event: KeyboardEvent): void => {
    const move = event.target instanceof HTMLElement && event.target.role === 'treeitem' ? moveInTree(lines, place, event) : null;
    const line = lines[place];
    if (move === null || line === undefined) return;
    event.preventDefault();
    if (move.kind === 'check') onChange(toggle(operation, line));
    else if (move.kind === 'open') open(line, move.isOpen);
    else {
      setCurrent(lines[move.place]?.id ?? '');
      setIsMoving(true);
    }
  };
  const wanted = search.trim();
  if (found?.length === 0) return <p className="part-notice">Nothing that this role can reach has “{wanted}” in its name.</p>;
  const notice = found !== null && <p className="field-hint">{describeCount(found.length)}</p>;
  return (
    <>
      {notice}
      <div
        role="tree"
        ref={tree}
        className="explorer-tree"
        aria-label="Fields and arguments"
        aria-multiselectable="true"
        onKeyDown={follow}
      >
        {lines.map((line, index) => (
          <ExplorerItem
            key={line.id}
            line={line}
            isCurrent={index === place}
            onFocus={() => setCurrent(line.id)}
            onToggle={() => onChange(toggle(operation, line))}
            onOpen={(isOpen) => open(line, isOpen)}
            onValue={(value) => line.kind === 'argument' && onChange(setValue(operation, line.path, line.argument, value))}
          />
        ))}
      </div>
    </>
  );
}

/** More would be a list to search again. */
const mostFound = 100;

/** The fields, at any depth, whose names contain what is searched for, those with the same beginning first; null without a search. */
function useFound(schema: GraphQLSchema, kind: OperationTypeNode, search: string): readonly FieldPath[] | null {
  const reachable = useMemo(() => listReachable(schema, kind), [schema, kind]);
  const wanted = useDeferredValue(search.trim().toLowerCase());
  return useMemo(() => {
    if (wanted === '') return null;
    const found = reachable.filter(({ name }) => name.includes(wanted));
    const best = found.toSorted((one, other) => Number(other.name.startsWith(wanted)) - Number(one.name.startsWith(wanted)));
    return best.slice(0, mostFound).map(({ path }) => path);
  }, [reachable, wanted]);
}

function describeCount(count: number): string {
  if (count === mostFound) return `The first ${mostFound} fields`;
  return count === 1 ? '1 field' : `${count} fields`;
}

/** The operation with the field or argument of a line, or without it if it was there. */
function toggle(operation: OperationDefinitionNode, line: ExplorerLine): OperationDefinitionNode {
  if (line.kind === 'field') {
    if (line.isChecked) return removeField(operation, line.path);
    return withoutTypename(addField(operation, line.path, writeField(line.field)), operation, line.path.length);
  }
  const value: ValueNode | null = line.isChecked ? null : writeValue(line.inputType);
  return setValue(operation, line.path, line.argument, value);
}

/** Removes the `__typename` of an otherwise empty operation when the first field is added. */
function withoutTypename(changed: OperationDefinitionNode, before: OperationDefinitionNode, depth: number): OperationDefinitionNode {
  const wasEmpty = before.selectionSet.selections.length === 1 && findField(before, ['__typename']) !== null;
  return wasEmpty && depth > 0 ? removeField(changed, ['__typename']) : changed;
}
