// The page of a batch that runs, opened from its folder in a real browser.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { showPart } from '../../../src/results/page/living-page.ts';
import { NOT_LIVE } from '../../../src/results/page/report.ts';
import { folderStore } from '../../../src/store/folder.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';
import { CHROMIUM, openBrowser } from './browser.ts';
import { batchFile, writeScene } from './scene.ts';

it.skipIf(CHROMIUM === undefined)(
  'the page of a batch that goes on after its end shows the rows that are sent again, however many parts came before',
  async () => {
    const folder = freshFolder();
    await writeScene(folder, { rows: 3, failing: 0 });
    const store = folderStore(folder);
    await store.write('report/live.js', NOT_LIVE);
    const row = { row: 2, key: 'SKU-0002', inputs: {}, attempts: [], files: [] };
    const failed = { ...row, outcome: 'failed', reason: 'no chair' } as const;
    await showPart({ store, file: batchFile(3) }, { pass: 1, part: 501 }, [failed]);
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(folder, 'report.html')).href);
    await expect.poll(() => page.$('#failures >> text=no chair'), { timeout: 30_000 }).not.toBeNull();
  },
);
