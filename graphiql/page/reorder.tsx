/**
 * The tabs of operations, which can be reordered by dragging: replaces `Reorder` of framer-motion, which GraphiQL uses for nothing else.
 * In: the values in order; out: `onReorder` with the new order, whenever one is dragged over another.
 */
import { createContext, type DragEvent, type HTMLAttributes, type Ref, useContext, useMemo, useRef } from 'react';

interface Order {
  readonly begin: (value: unknown) => void;
  readonly passOver: (value: unknown) => void;
  readonly end: () => void;
}

const OrderContext = createContext<Order | null>(null);

interface GroupProps extends HTMLAttributes<HTMLUListElement> {
  readonly ref?: Ref<HTMLUListElement>;
  readonly values: readonly unknown[];
  readonly onReorder: (values: readonly unknown[]) => void;
  readonly axis?: string;
}

function Group({ values, onReorder, axis: _axis, ...rest }: GroupProps) {
  const dragged = useRef<unknown>(null);
  const order = useMemo(
    (): Order => ({
      begin: (value) => {
        dragged.current = value;
      },
      passOver: (value) => {
        const { current } = dragged;
        if (current !== null && current !== value) onReorder(moveTo(values, current, value));
      },
      end: () => {
        dragged.current = null;
      },
    }),
    [values, onReorder],
  );
  return (
    <OrderContext value={order}>
      <ul {...rest} />
    </OrderContext>
  );
}

interface ItemProps extends HTMLAttributes<HTMLLIElement> {
  readonly ref?: Ref<HTMLLIElement>;
  readonly value: unknown;
  readonly dragElastic?: unknown;
  readonly dragConstraints?: unknown;
}

function Item({ value, dragElastic: _elastic, dragConstraints: _constraints, ...rest }: ItemProps) {
  const order = useContext(OrderContext);
  const passOver = (event: DragEvent): void => {
    event.preventDefault();
    order?.passOver(value);
  };
  return <li {...rest} draggable onDragStart={() => order?.begin(value)} onDragOver={passOver} onDragEnd={() => order?.end()} />;
}

/** The values, with one of them moved to the place of another. */
function moveTo(values: readonly unknown[], moved: unknown, place: unknown): readonly unknown[] {
  const others = values.filter((value) => value !== moved);
  return others.toSpliced(values.indexOf(place), 0, moved);
}

export const Reorder = { Group, Item };
