/**
 * The first script of the page at `/graphiql`: runs the rest once the browser has painted the outlines of the page, which would be late otherwise. In a tab that
 * nobody sees there is no paint to wait for.
 */
async function waitForPaint(): Promise<void> {
  if (document.hidden) return;
  // What runs behind a frame runs behind its paint.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

await waitForPaint();
const { renderPage } = await import('./render-page.tsx');
renderPage();

export {};
