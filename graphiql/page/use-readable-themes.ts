/**
 * Readable colours for the editor where GraphiQL's are too faint, under the names of GraphiQL's themes (`test/contracts/graphiql.test.ts`).
 */
import { useMonaco } from '@graphiql/react';
import { useEffect } from 'react';

export function useReadableThemes(): void {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    monaco?.editor.defineTheme('graphiql-DARK', {
      base: 'vs-dark',
      inherit: true,
      rules: [{ token: 'comment', foreground: '8fbf7a' }],
      colors: { ...coloursOn('#212a3b', '#ff5794'), ...lineNumbers('#a0a8b8') },
    });
    monaco?.editor.defineTheme('graphiql-LIGHT', {
      base: 'vs',
      inherit: true,
      rules: [{ token: 'number', foreground: '06653f' }],
      colors: { ...coloursOn('#ffffff', '#b3007a'), ...lineNumbers('#237893') },
    });
  }, [monaco]);
}

/** Colours of widgets on the background of the page, which shows through the editor itself. */
function coloursOn(background: string, accent: string): Record<string, string> {
  const transparent = '#ffffff00';
  const widgets = ['editorHoverWidget', 'editorSuggestWidget', 'editorWidget', 'menu'];
  return {
    ...Object.fromEntries(widgets.map((widget) => [`${widget}.background`, background])),
    'editor.background': transparent,
    'scrollbar.shadow': transparent,
    'editorSuggestWidget.selectedBackground': `${accent}22`,
    'editorSuggestWidget.selectedForeground': accent,
    'list.highlightForeground': accent,
    'list.focusHighlightForeground': accent,
    'list.hoverBackground': `${accent}22`,
    'textLink.foreground': accent,
    focusBorder: accent,
  };
}

function lineNumbers(colour: string): Record<string, string> {
  return { 'editorLineNumber.foreground': colour, 'editorLineNumber.dimmedForeground': colour };
}
