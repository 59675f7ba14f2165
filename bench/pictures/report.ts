// Pictures of a report for the documents: on a desktop, dark, and on a phone. `node bench/pictures/report.ts <report.html>` makes
// them of any report.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DESKTOP, openBrowser, openPage, PHONE } from '../../test/results/page/browser.ts';

const PICTURES = join(import.meta.dirname, '../../docs/pictures');

const NAMES = ['report.png', 'report-dark.png', 'report-phone.png'] as const;

/** Takes a picture for each name. */
export async function photograph(path: string, names: readonly string[] = NAMES): Promise<void> {
  const address = pathToFileURL(path).href;
  const browser = await openBrowser();
  try {
    const save = async (name: string | undefined, options: object, act?: string): Promise<void> => {
      if (name === undefined) return;
      const page = await openPage(browser, address, options);
      if (act !== undefined) await page.click(act);
      await page.waitForFunction('[...document.images].every(({ complete }) => complete)');
      await page.screenshot({ path: join(PICTURES, name) });
      await page.close();
    };
    const desktop = { ...DESKTOP, viewport: { width: 1200, height: 900 } };
    const phone = { ...PHONE, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };
    await save(names[0], desktop);
    await save(names[1], { ...desktop, colorScheme: 'dark' }, '.card[data-place="6"]');
    await save(names[2], phone);
  } finally {
    await browser.close();
  }
}

const [, script, path] = process.argv;
if (script === import.meta.filename && path !== undefined) await photograph(path);
