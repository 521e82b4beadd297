/** A button that opens a small panel below it; Escape and a click elsewhere close it. */
import { type ReactNode, useId, useRef } from 'react';

interface PopoverMenuProps {
  readonly label: string;
  readonly children: ReactNode;
}

/** In pixels. */
const gap = 4;

export function PopoverMenu({ label, children }: PopoverMenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const place = (): void => {
    const { bottom, right } = button.current!.getBoundingClientRect();
    const { style, offsetWidth } = panel.current!;
    style.top = `${bottom + gap}px`;
    style.left = `${Math.max(gap, right - offsetWidth)}px`;
    style.maxHeight = `calc(100vh - ${bottom + 4 * gap}px)`;
  };
  return (
    <>
      <button ref={button} type="button" className="page-button" popoverTarget={id}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={label}
        className="row-menu"
        onToggle={({ newState }) => newState === 'open' && place()}
      >
        {children}
      </div>
    </>
  );
}
