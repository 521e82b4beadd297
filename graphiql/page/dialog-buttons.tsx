/** The last line of a form that chooses the caller: the form's own buttons, and those that close it. */
import type { ReactNode } from 'react';

interface DialogButtonsProps {
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export function DialogButtons({ onClose, children }: DialogButtonsProps) {
  return (
    <div className="dialog-buttons">
      {children}
      <button type="button" className="page-button" onClick={onClose}>
        Cancel
      </button>
      <button type="submit" className="page-button primary">
        Use these
      </button>
    </div>
  );
}
