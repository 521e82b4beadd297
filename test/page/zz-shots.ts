import { openPage, startBrowser } from './browser.ts';
const url = process.argv[2]!;
const browser = await startBrowser();
const looks: Record<string, any> = { d: { width: 1440, height: 900 }, k: { width: 1280, height: 800, colorScheme: 'dark' }, p: { width: 390, height: 800 } };
for (const [name, look] of Object.entries(looks)) {
  const { page, context, complaints } = await openPage(browser, url, look);
  page.setDefaultTimeout(20000);
  const shot = (n: string) => page.screenshot({ path: `/tmp/shots/${name}-${n}.png` });
  await page.locator('.graphiql-query-editor .view-lines').first().waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.result-window .view-lines').filter({ hasText: 'Godwit' }).waitFor();
  await shot('query');
  for (const t of ['SQL', 'Plan', 'Cost', 'Advice', 'Timing']) { await page.getByRole('tab', { name: t, exact: true }).click(); await page.waitForTimeout(1500); await shot(`tab-${t}`); }
  const panels = page.getByRole('navigation', { name: 'Panels' });
  for (const p of ['Docs', 'Explorer', 'Saved', 'History']) { await panels.getByRole('button', { name: p }).click(); await page.waitForTimeout(700); await shot(`panel-${p}`); }
  const view = (v: string) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: v }).click();
  await view('Rows'); await page.locator('.row-grid tbody tr').first().waitFor(); await page.waitForTimeout(700); await shot('rows');
  await view('Diagram'); await page.locator('.table-box').first().waitFor(); await page.waitForTimeout(500); await shot('diagram');
  await view('Policies'); await page.waitForTimeout(2500); await shot('policies');
  await page.getByRole('tab', { name: 'Two callers' }).click(); await page.waitForTimeout(2500); await shot('callers');
  await view('Doctor'); await page.getByRole('heading', { name: /^Findings of the doctor/ }).waitFor(); await page.waitForTimeout(500); await shot('doctor');
  await page.keyboard.press('Control+K'); await page.keyboard.type('sight'); await page.waitForTimeout(500); await shot('palette'); await page.keyboard.press('Escape');
  console.log(name, complaints);
  await context.close();
}
await browser.close();
