/**
 * The colours of the editors, those of theme.css, under the names of GraphiQL's themes (`test/contracts/graphiql.test.ts`): keywords,
 * names and values differ, and each is readable on both backgrounds.
 */
import { useMonaco } from '@graphiql/react';
import { useEffect } from 'react';

interface Palette {
  readonly surface: string;
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly accent: string;
  readonly text: string;
  readonly number: string;
  readonly type: string;
}

const palettes: Readonly<Record<'dark' | 'light', Palette>> = {
  dark: {
    surface: '#1a2528',
    ink: '#dfe8e8',
    muted: '#8fa3a7',
    line: '#2a383c',
    accent: '#5fd0c3',
    text: '#f0b463',
    number: '#ff9d8f',
    type: '#c9a8f5',
  },
  light: {
    surface: '#ffffff',
    ink: '#16262b',
    muted: '#5a6b71',
    line: '#d8e0de',
    accent: '#0b6661',
    text: '#8a4b00',
    number: '#a3302a',
    type: '#6b3fa0',
  },
};

export function useReadableThemes(): void {
  const monaco = useMonaco((state) => state.monaco);
  useEffect(() => {
    monaco?.editor.defineTheme('graphiql-DARK', { base: 'vs-dark', inherit: true, ...themeOf(palettes.dark) });
    monaco?.editor.defineTheme('graphiql-LIGHT', { base: 'vs', inherit: true, ...themeOf(palettes.light) });
  }, [monaco]);
}

function themeOf({ surface, ink, muted, line, accent, text, number, type }: Palette) {
  const foregrounds = Object.entries({
    '': ink,
    comment: muted,
    keyword: accent,
    'keyword.json': type,
    identifier: ink,
    'key.identifier': ink,
    'argument.identifier': type,
    'type.identifier': type,
    variable: number,
    string: text,
    'string.key.json': ink,
    'string.value.json': text,
    number,
    annotation: type,
    delimiter: muted,
    operator: muted,
  });
  const transparent = '#ffffff00';
  const widgets = ['editorHoverWidget', 'editorSuggestWidget', 'editorWidget', 'menu'];
  const brackets = Array.from({ length: 6 }, (_, index) => [`editorBracketHighlight.foreground${index + 1}`, muted]);
  return {
    rules: foregrounds.flatMap(([token, foreground]) =>
      ['', '.gql', '.graphql', '.json'].map((end) => ({ token: rule(token, end), foreground })),
    ),
    colors: {
      ...Object.fromEntries(widgets.map((widget) => [`${widget}.background`, surface])),
      ...Object.fromEntries(brackets),
      // The page shows through the editor itself.
      'editor.background': transparent,
      'editor.foreground': ink,
      'scrollbar.shadow': transparent,
      'editorIndentGuide.background1': line,
      'editorIndentGuide.activeBackground1': muted,
      'editorLineNumber.foreground': muted,
      'editorLineNumber.activeForeground': accent,
      'editorLineNumber.dimmedForeground': muted,
      'editorSuggestWidget.selectedBackground': `${accent}22`,
      'editorSuggestWidget.selectedForeground': accent,
      'list.highlightForeground': accent,
      'list.focusHighlightForeground': accent,
      'list.hoverBackground': `${accent}22`,
      'textLink.foreground': accent,
      focusBorder: accent,
    },
  };
}

/** Languages end the names of their tokens with their own; without a name, the rule is of all else. */
function rule(token: string, end: string): string {
  return token === '' || token.endsWith(end) ? token : `${token}${end}`;
}
