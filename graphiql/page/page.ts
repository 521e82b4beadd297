/**
 * The first script of the page at `/graphiql`: runs the rest once the browser has painted the skeleton of the page, which would otherwise
 * appear late. A tab in the background paints nothing, so there the rest runs at once.
 */

/** In milliseconds. A browser that does not report its first paint has painted by then. */
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
