// A report of 100,000 rows opens quickly and stays small, however its rows are read.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, CDPSession } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, keysOf, openBrowser } from './browser.ts';
import { writeScene } from './scene.ts';

const ROWS = 100_000;

describe.skipIf(CHROMIUM === undefined)('a report of 100,000 rows (skipped without Chromium)', () => {
  let folder = '';
  let address = '';
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-report-'));
    address = pathToFileURL(await writeScene(folder, { rows: ROWS })).href;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('opens within two seconds of the processor and 300 MB, sorts, finds and scrolls to its end', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1_700 } });
    const session = await page.context().newCDPSession(page);
    // Time of the page's thread, because other tests may have the processor.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(address);
    await page.waitForSelector('html[data-ready]');
    await page.waitForSelector('canvas.drawn');
    expect(await secondsOf(session)).toBeLessThan(2);
    expect(await megabytesOf(session)).toBeLessThan(300);
    expect(await page.textContent('#count')).toBe('100,000 rows');

    await page.selectOption('#sort', 'c3');
    await page.fill('#search', 'SKU-99999');
    expect(await keysOf(page)).toEqual(['SKU-99999']);
    await page.click('#reset');
    for (let block = 1; block < 10; block += 1) await page.click('#blocks button:last-child');
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await expect.poll(async () => (await keysOf(page)).at(-1)).toBe(`SKU-${ROWS}`);
    expect((await keysOf(page)).length).toBeLessThan(100);
    await page.click('.card[data-place="99990"]');
    await page.waitForSelector('#side dl');
    expect(await page.textContent('#side h2')).toBe('SKU-99991');
    expect(await megabytesOf(session)).toBeLessThan(300);
    await page.close();
  });
});

async function secondsOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity;
}

/** What the page holds: its heap, and the columns outside of it. */
async function megabytesOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize, ...others } = await session.send('Runtime.getHeapUsage');
  const { backingStorageSize = 0 } = others as { readonly backingStorageSize?: number };
  return (usedSize + backingStorageSize) / 1e6;
}
