/** Reads the schema again after it has changed, as the server of `rowgraph dev` says. A hidden page asks when it is shown again. */
import { useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import type { PageBackend } from './page-backend.ts';

/** How often to ask, in milliseconds: while the server answers, and while it does not. */
const interval = { answered: 2000, unanswered: 10_000 };

export function useSchemaChanges(backend: PageBackend | null): void {
  const { introspect } = useGraphiQLActions();
  useEffect(() => {
    if (backend === null) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    let known: string | null = null;
    const look = async (): Promise<void> => {
      const version = document.hidden ? known : await backend.readSchemaVersion().catch(() => null);
      if (isOver) return;
      if (version !== null && known !== null && version !== known) void introspect();
      known = version ?? known;
      timer = setTimeout(() => void look(), version === null ? interval.unanswered : interval.answered);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [backend, introspect]);
}
