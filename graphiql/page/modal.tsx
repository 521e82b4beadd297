/** A dialog over the page, which Escape closes. */
import { type ReactNode, useLayoutEffect, useRef } from 'react';

interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** For code. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

export function Modal({ title, onClose, isWide = false, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key arrives.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={isWide ? 'page-dialog wide' : 'page-dialog'} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** The last line of a form that chooses the caller: the form's own buttons, and those that close it. */
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
