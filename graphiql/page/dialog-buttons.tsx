/** The last line of a form that chooses the caller: the form's own buttons, and those that close it. */
import type { ReactNode } from 'react';

interface DialogButtonsProps {
  /** Without it, there is nothing to go back to. */
  readonly onClose?: (() => void) | undefined;
  readonly children?: ReactNode;
}

export function DialogButtons({ onClose, children }: DialogButtonsProps) {
  return (
    <div className="dialog-buttons">
      {children}
      {onClose && (
        <button type="button" className="page-button" onClick={onClose}>
          Cancel
        </button>
      )}
      <button type="submit" className="page-button primary">
        Use these
      </button>
    </div>
  );
}
