// Takes a screenshot of a report: npm run picture -- report.html picture.png [width] [height|full] [dark] [#section]

import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runnerImport } from 'vite';

const [page, picture, ...words] = process.argv.slice(2);
if (!picture)
  throw new Error('usage: npm run picture -- report.html picture.png [width] [height|full] [dark] [#section]');
const [width, height] = words.filter((word) => /^\d+$/.test(word)).map(Number);
const section = words.find((word) => word.startsWith('#'));
const isFull = words.includes('full');

const { module: browsers } = await runnerImport('./test/browser.ts');
const browser = await browsers.launch();
const opened = await browser.newPage({
  viewport: { width: width ?? 1440, height: height ?? 900 },
  colorScheme: words.includes('dark') ? 'dark' : 'light',
});
await opened.goto(pathToFileURL(resolve(page)).href);
await opened.locator('main:not([aria-busy])').waitFor();
// Charts are drawn when they come near the screen.
for (const chart of isFull || section ? await opened.locator(`${section ?? ''} .figure:has(.chart)`).all() : []) {
  await chart.scrollIntoViewIfNeeded();
  await chart.locator('.chart svg').waitFor();
}
await opened.evaluate(() => scrollTo(0, 0));
if (section) await opened.locator(section).screenshot({ path: picture });
else await opened.screenshot({ path: picture, fullPage: isFull });
await browser.close();
console.log(picture);
