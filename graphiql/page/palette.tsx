/** Ctrl-K: one field that finds everything of the page (`palette-items.ts`), by keyboard. */
import { DOC_EXPLORER_PLUGIN, useDocExplorerActions } from '@graphiql/plugin-doc-explorer';
import { useGraphiQL } from '@graphiql/react';
import { Command } from 'cmdk';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useCallerChoices } from './caller-choice.tsx';
import { usePage, type ViewProps } from './page-context.ts';
import { findItems, listItems, type PaletteItem } from './palette-items.ts';
import { offeredViews, pressHidden } from './rail.tsx';
import { useSavedOperations } from './saved-operations.tsx';
import { useShortcut } from './use-shortcut.ts';

type PaletteProps = Pick<ViewProps, 'onShow'>;

/** The button that opens it, and the key. */
export function PaletteButton({ onShow }: PaletteProps) {
  const [isOpen, setIsOpen] = useState(false);
  useShortcut('k', (event) => {
    // The editor has keys that begin with Ctrl-K.
    event.stopPropagation();
    if (document.querySelector('dialog[open]:not(.palette)') === null) setIsOpen((before) => !before);
  });
  return (
    <>
      <button type="button" className="palette-button" aria-keyshortcuts="Control+K" onClick={() => setIsOpen(true)}>
        <svg className="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">
          <path d="M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5 20 20" />
        </svg>
        <span className="palette-words">Search tables, fields, operations …</span>
        <kbd>{navigator.userAgent.includes('Mac') ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {isOpen && <Palette onShow={onShow} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function Palette({ onShow, onClose }: PaletteProps & { readonly onClose: () => void }) {
  const { backend } = usePage();
  const schema = useGraphiQL((state) => state.schema);
  const { operations } = useSavedOperations();
  const choices = useCallerChoices();
  const dialog = useRef<HTMLDialogElement>(null);
  const [search, setSearch] = useState('');
  const hasBackend = backend !== null;
  const items = useMemo(
    () => listItems({ views: offeredViews(hasBackend), schema, operations: operations ?? [], choices }),
    [hasBackend, schema, operations, choices],
  );
  // At once: Enter chooses the best of what was found for what is typed, which cmdk selects.
  const found = useMemo(() => findItems(items, search), [items, search]);
  const act = useAction(onShow);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  // The best is at the top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search is another list.
  useLayoutEffect(() => {
    list.current?.scrollTo(0, 0);
  }, [search]);
  // Before the next key arrives. The dialog itself would focus what is around the field.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    input.current?.focus();
  }, []);
  const choose = (item: PaletteItem): void => {
    dialog.current?.close();
    act(item);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog; a click beside it is for the mouse.
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search"
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current.close()}
    >
      <Command label="Search" shouldFilter={false} loop>
        <Command.Input ref={input} value={search} placeholder="Tables, fields, docs, saved operations, roles" onValueChange={setSearch} />
        <Command.List ref={list} label="Found">
          <Command.Empty>Nothing has “{search.trim()}” in its name.</Command.Empty>
          {found.map(([group, inside]) => (
            <Command.Group key={group} heading={group}>
              {inside.map((item) => (
                <Command.Item key={item.id} value={item.id} onSelect={() => choose(item)}>
                  <span className="palette-label">{item.label}</span>
                  <span className="palette-detail">{item.detail}</span>
                </Command.Item>
              ))}
            </Command.Group>
          ))}
        </Command.List>
      </Command>
    </dialog>
  );
}

/** What choosing an item does. */
function useAction(onShow: PaletteProps['onShow']): (item: PaletteItem) => void {
  const { caller, changeCaller } = usePage();
  const { open } = useSavedOperations();
  const { push } = useDocExplorerActions();
  const visible = useGraphiQL((state) => state.visiblePlugin);
  const plugins = useGraphiQL((state) => state.plugins);
  return ({ action }) => {
    if (action.kind === 'view') onShow(action.view);
    else if (action.kind === 'table') onShow('Rows', action.table);
    else if (action.kind === 'operation') open(action.operation);
    else if (action.kind === 'role') changeCaller({ kind: 'role', role: action.role, claims: caller.kind === 'role' ? caller.claims : {} });
    else if (action.kind === 'user') {
      // Nobody is a user of the role for those without a token.
      const [role, claims] = caller.kind === 'role' ? [caller.role, caller.claims] : ['authenticated', {}];
      changeCaller({ kind: 'role', role, claims: { ...claims, sub: action.id } });
    } else {
      const { type, field } = action;
      push({ name: type.name, def: type });
      if (field !== null) push({ name: field.name, def: field });
      onShow('Query');
      if (visible !== DOC_EXPLORER_PLUGIN) pressHidden(`[data-index="${plugins.indexOf(DOC_EXPLORER_PLUGIN)}"]`);
    }
  };
}
