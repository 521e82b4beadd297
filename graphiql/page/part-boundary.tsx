/** Parts of the page that are loaded when they are first shown. */
import { Component, type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense } from 'react';

/** The component that a module exports under this name. */
export function later<Name extends string, Props>(
  load: () => Promise<Readonly<Record<Name, ComponentType<Props>>>>,
  name: Name,
): LazyExoticComponent<ComponentType<Props>> {
  return lazy(async () => ({ default: (await load())[name] }));
}

interface PartBoundaryProps {
  readonly children: ReactNode;
}

/** Wraps such a part: says that it is loading, or why it cannot be shown, and leaves the rest of the page unaffected. */
export class PartBoundary extends Component<PartBoundaryProps, { readonly error: Error | null }> {
  override readonly state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return <Suspense fallback={<p className="part-notice">Loading …</p>}>{this.props.children}</Suspense>;
    return (
      <div className="part-notice" role="alert">
        <p>This part of the page cannot be shown: {error.message}</p>
        <p>If rowgraph has been restarted, reload the page. The contents of the editors are kept.</p>
        <button type="button" className="page-button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    );
  }
}
