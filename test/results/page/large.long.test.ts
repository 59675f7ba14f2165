// A report of 100,000 rows opens quickly and stays small, however its rows are read.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, drawn, keysOf, openBrowser } from './browser.ts';
import { openPageClock, openPageMemory } from './page-cost.ts';
import { writeScene } from './scene.ts';

const ROWS = 100_000;
/** The fastest of them counts for the wall time, because other programs may have the processor during the others. */
const TIMES = 5;
/** How often the page may take the time that its data and pictures take alone, when other programs always have the processor. */
const TIMES_BARE = 4;

describe.skipIf(CHROMIUM === undefined)('a report of 100,000 rows (skipped without Chromium)', () => {
  let folder = '';
  let address = '';
  let bareAddress = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-report-'));
    const path = await writeScene(folder, { rows: ROWS });
    address = pathToFileURL(path).href;
    bareAddress = pathToFileURL(writeBare(path)).href;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('shows its first pictures within two seconds and 300 MB of its process', async () => {
    const opened: Awaited<ReturnType<typeof openOnce>>[] = [];
    const bare: number[] = [];
    for (let time = 0; time < TIMES; time += 1) {
      opened.push(await openOnce(address));
      bare.push((await openOnce(bareAddress)).wallSeconds);
    }
    const worst = (name: keyof (typeof opened)[number]): number =>
      Math.max(...opened.map((cost) => cost[name]));
    const most = Math.max(2, TIMES_BARE * Math.min(...bare));
    expect(Math.min(...opened.map(({ wallSeconds }) => wallSeconds))).toBeLessThan(most);
    expect(worst('cpuSeconds')).toBeLessThan(2);
    expect(worst('cpuSeconds')).toBeGreaterThan(0.05);
    expect(worst('peakMegabytes')).toBeLessThan(300);
    expect(worst('peakMegabytes')).toBeGreaterThan(20);
  });

  it('sorts, finds and scrolls to its end within 300 MB', async () => {
    const browser = await openBrowser();
    const page = await browser.newPage({ viewport: { width: 1280, height: 1_700 } });
    const memory = await openPageMemory(browser);
    await openDrawn(page, address);
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
    expect(await memory.peakMegabytes()).toBeLessThan(300);
    await browser.close();
  });
});

/** The same file with its data and as many pictures, which does nothing. */
function writeBare(path: string): string {
  const page = readFileSync(path, 'utf8').replace('<html ', '<html data-ready ');
  const pictures = Array.from({ length: 20 }, (_, at) => `<img src="outputs/00${at + 10}.png">`).join('');
  const bare = join(path, '../bare.html');
  writeFileSync(bare, `${page.slice(0, page.lastIndexOf('<script>'))}<p class="card">${pictures}</p></html>`);
  return bare;
}

/** In a browser of its own, as after a double click. */
async function openOnce(address: string) {
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 1_700 } });
  const memory = await openPageMemory(browser);
  const cpuSeconds = await openPageClock(page);
  const startedAt = performance.now();
  await openDrawn(page, address);
  const wallSeconds = (performance.now() - startedAt) / 1_000;
  const cost = {
    wallSeconds,
    cpuSeconds: await cpuSeconds(),
    peakMegabytes: await memory.peakMegabytes(),
  };
  await browser.close();
  return cost;
}

/** Returns when the first cards have their pictures. */
async function openDrawn(page: Page, address: string): Promise<void> {
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForSelector('html[data-ready]');
  await expect
    .poll(async () => (await drawn(page, '.card img')).length, { interval: 20 })
    .toBeGreaterThan(12);
}
