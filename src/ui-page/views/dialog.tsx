import type {ComponentChildren, JSX} from 'preact';
import {useEffect, useRef} from 'preact/hooks';

/** Modal dialog. The browser keeps the focus in it, closes it with Escape, and returns the focus. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => {
        // The backdrop belongs to the dialog; its content is inside a box.
        if (event.target === element.current) element.current?.close();
      }}
    >
      <div class="dialog-box">
        <h2 id="dialog-title">{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
