/**
 * The first script of the page at `/graphiql`: runs the rest once the browser shows the outlines of the page, which would be late otherwise. In a tab that
 * nobody sees there is no paint to wait for.
 */

/** In milliseconds: a browser that does not tell of its paint has painted by then. */
const longestWait = 400;

async function waitForPaint(): Promise<void> {
  if (document.hidden) return;
  await new Promise<void>((resolve) => {
    setTimeout(resolve, longestWait);
    const observer = new PerformanceObserver((paints) => {
      if (paints.getEntriesByName('first-contentful-paint').length === 0) return;
      observer.disconnect();
      resolve();
    });
    observer.observe({ type: 'paint', buffered: true });
  });
}

await waitForPaint();
const { renderPage } = await import('./render-page.tsx');
renderPage();

export {};
