/** The views of the page, in the order of the rail. A new view is a row of this table. */
import type { ComponentType } from 'react';
import type { ViewProps } from './page-context.ts';
import type { ViewName } from './page-location.ts';
import { later } from './part-boundary.tsx';

interface View {
  /** The path of its icon, in a square of 24. */
  readonly icon: string;
  /** Whether it exists only where the server has a backend for the page: `rowgraph dev`. */
  readonly needsBackend: boolean;
  /** Loaded when it is first shown. The editor stays where it is, hidden, and is not in this table. */
  readonly Content: ComponentType<ViewProps> | null;
}

export const views: Readonly<Record<ViewName, View>> = {
  Query: { icon: 'M8 6 3 12l5 6M16 6l5 6-5 6M13.5 4l-3 16', needsBackend: false, Content: null },
  Rows: {
    icon: 'M4 5h16v14H4zM4 10h16M4 14.5h16M10 10v9',
    needsBackend: false,
    Content: later(() => import('./rows/table-rows.tsx'), 'TableRows'),
  },
  Diagram: {
    icon: 'M4 4h6v5H4zM14 15h6v5h-6zM7 9v5.5a3 3 0 0 0 3 3h4M14 6.5h3a2 2 0 0 1 2 2V15',
    needsBackend: false,
    Content: later(() => import('./schema-diagram.tsx'), 'SchemaDiagram'),
  },
  Policies: {
    icon: 'M12 3.5 5 6v5.5c0 4.5 3 7.5 7 9 4-1.5 7-4.5 7-9V6zM9 12l2.2 2.2L15.5 10',
    needsBackend: false,
    Content: later(() => import('./policies/policies-view.tsx'), 'PoliciesView'),
  },
  Doctor: {
    icon: 'M3 12h4l2.5-6 4 12 2.5-6H21',
    needsBackend: true,
    Content: later(() => import('./doctor-view.tsx'), 'DoctorView'),
  },
};
