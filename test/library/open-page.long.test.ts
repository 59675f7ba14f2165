// The page of a batch that runs, in a real browser: rows appear as they end, and the end shows without a reload.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Runsheet } from '../../src/index.ts';
import { CHROMIUM, DESKTOP, openBrowser } from '../results/page/browser.ts';
import { Stage } from '../stage/stage.ts';

const ROWS = 40;

describe.skipIf(CHROMIUM === undefined)('the page of a running batch (skipped without Chromium)', () => {
  const stage = new Stage();
  let runsheet: Runsheet;
  beforeAll(async () => {
    runsheet = await connect({
      store: stage.path('batches'),
      home: stage.path('home'),
      service: 'local',
      embedded: true,
    });
  });
  afterAll(async () => {
    await runsheet[Symbol.asyncDispose]();
    await stage.close();
  });

  it('grows while the batch runs, and is complete when it has ended', async () => {
    const rows = Array.from({ length: ROWS }, (_, at) => ({ prompt: `portrait ${at + 1}`, seed: at + 1 }));
    const batch = await runsheet.start(rows, { deployment: 'portraits', concurrency: 2 });
    await using report = await batch.report();
    expect(report.path).toBeUndefined();
    const browser = await openBrowser();
    try {
      const page = await browser.newPage(DESKTOP);
      await page.goto(report.address.href);
      const done = async (): Promise<number> =>
        Number(/^(?:All )?(\d+)/.exec((await page.textContent('#sentence')) ?? '')?.[1]);
      const seen = new Set<number>();
      await expect
        .poll(async () => seen.add(await done()).has(ROWS), { timeout: 120_000, interval: 200 })
        .toBe(true);
      expect([...seen].filter((rowsDone) => rowsDone > 0 && rowsDone < ROWS).length).toBeGreaterThan(1);
      await expect
        .poll(() => page.textContent('#sentence'), { timeout: 30_000 })
        .toBe('All 40 rows succeeded');
      expect(await page.isHidden('#state')).toBe(true);
      await page.waitForSelector('canvas.drawn');
      await page.click('.card[data-place="3"]');
      await page.waitForSelector('#side dl');
      expect(await page.textContent('#side dl')).toContain('portrait 4');
    } finally {
      await browser.close();
    }
    // Its file shows the same.
    expect((await batch.report()).path).toMatch(/report\.html$/);
  });
});
