/** The rail at the left, on a phone at the bottom: the mark, the views, and what concerns the whole page. */
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { Mark } from './mark.tsx';
import { usePage } from './page-context.ts';
import { type ViewName, viewNames } from './page-location.ts';
import { views } from './views.tsx';

export function offeredViews(hasBackend: boolean): readonly ViewName[] {
  return viewNames.filter((name) => hasBackend || !views[name].needsBackend);
}

interface RailProps {
  readonly view: ViewName;
  readonly onView: (view: ViewName) => void;
}

export function Rail({ view, onView }: RailProps) {
  const { backend } = usePage();
  const { introspect } = useGraphiQLActions();
  const isReading = useGraphiQL((state) => state.isIntrospecting);
  return (
    <div className="rail">
      <Mark size={30} />
      <nav className="rail-group" aria-label="Views">
        {offeredViews(backend !== null).map((name) => (
          <RailButton
            key={name}
            icon={views[name].icon}
            label={name}
            aria-current={name === view ? 'page' : undefined}
            onClick={() => onView(name)}
          />
        ))}
      </nav>
      <div className="rail-group rail-end">
        <RailButton
          icon="M20 11a8 8 0 0 0-14.5-4L3 9.5M3 4v5.5h5.5M4 13a8 8 0 0 0 14.5 4l2.5-2.5M21 20v-5.5h-5.5"
          label="Reload"
          title="Read the schema again (Shift-Ctrl-R)"
          aria-busy={isReading}
          onClick={() => void introspect()}
        />
        <RailButton
          icon="M3 6h18v12H3zM6.5 9.5h.01M10 9.5h.01M13.5 9.5h.01M17 9.5h.01M6.5 14.5h.01M17 14.5h.01M9.5 14.5h5"
          label="Keys"
          title="Keyboard shortcuts"
          onClick={() => pressHidden('[data-value=short-keys]')}
        />
        <RailButton
          icon="M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5"
          label="Settings"
          title="Light or dark, and what this browser keeps (Ctrl-,)"
          onClick={() => pressHidden('[data-value=settings]')}
        />
      </div>
    </div>
  );
}

interface RailButtonProps extends React.ComponentProps<'button'> {
  readonly icon: string;
  readonly label: string;
}

function RailButton({ icon, label, ...others }: RailButtonProps) {
  return (
    <button type="button" className="rail-button" {...others}>
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path d={icon} />
      </svg>
      <span>{label}</span>
    </button>
  );
}

/** The panels beside the editor, above the one that is open. */
export function PanelTabs() {
  const plugins = useGraphiQL((state) => state.plugins);
  const visible = useGraphiQL((state) => state.visiblePlugin);
  return (
    <nav className="panel-tabs" aria-label="Panels">
      {plugins.map((plugin, index) => (
        <button
          key={plugin.title}
          type="button"
          className="panel-tab"
          aria-pressed={plugin === visible}
          onClick={() => pressHidden(`[data-index="${index}"]`)}
        >
          {panelNames[plugin.title] ?? plugin.title}
        </button>
      ))}
    </nav>
  );
}

const panelNames: Readonly<Record<string, string>> = { 'Documentation Explorer': 'Docs' };

/** GraphiQL opens its dialogs and panels only by the buttons of its own sidebar, which this page hides (`test/contracts/graphiql.test.ts`). */
export function pressHidden(button: string): void {
  document.querySelector<HTMLElement>(`.graphiql-sidebar ${button}`)?.click();
}
