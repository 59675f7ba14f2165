// 1,000 pictures of 2 MB, as a person scrolls through them, without and with the small copies that `runsheet open` makes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openBrowser } from './browser.ts';
import { writeLargeScene, type LargeScene } from './large-pictures.ts';
import { openPageClock, openPageMemory } from './page-cost.ts';

const ROWS = 1_000;
/** A picture of `SIDE` × `SIDE` bytes has 2 MB. */
const SIDE = 1_420;
const WINDOWS = 10;

describe.skipIf(CHROMIUM === undefined)('1,000 pictures of 2 MB (skipped without Chromium)', () => {
  let folder = '';
  let scene: LargeScene;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-large-'));
    scene = await writeLargeScene(folder, ROWS, SIDE);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('scroll with half of the processor and of the memory when they have small copies', async () => {
    const without = await scrollThrough(scene.path);
    expect(await scene.copy(Infinity)).toEqual({ made: ROWS, missing: 0 });
    const withCopies = await scrollThrough(scene.path);
    expect(without.small).toBe(0);
    expect(withCopies.small).toBeGreaterThan(200);
    expect(withCopies.originals).toBe(0);
    expect(withCopies.cpuSeconds).toBeLessThan(without.cpuSeconds / 2);
    expect(withCopies.peakMegabytes).toBeLessThan(without.peakMegabytes / 2);
  });

  it('show the original where a small copy was deleted, and in the enlarged view', async () => {
    rmSync(join(folder, 'report/small/picture-1.png.webp'));
    const browser = await openBrowser();
    const page = await browser.newPage();
    const loaded: string[] = [];
    page.on('requestfinished', (request) => loaded.push(request.url().split('/').at(-1) ?? ''));
    await page.goto(pathToFileURL(scene.path).href);
    await expect.poll(() => loaded).toContain('picture-1.png');
    expect(loaded).not.toContain('picture-2.png');
    await page.click('.card[data-place="1"]');
    await expect.poll(() => loaded).toContain('picture-2.png');
    await browser.close();
  });
});

async function scrollThrough(path: string) {
  const browser = await openBrowser();
  const page = await browser.newPage({ viewport: { width: 1280, height: 1_000 } });
  const names: string[] = [];
  page.on('requestfinished', (request) => names.push(request.url()));
  const [clock, memory] = [await openPageClock(page), await openPageMemory(browser)];
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('html[data-ready]');
  for (let window = 0; window < WINDOWS; window += 1) {
    await untilDrawn(page);
    await page.evaluate(SCROLL);
  }
  await untilDrawn(page);
  const cost = {
    cpuSeconds: await clock(),
    peakMegabytes: await memory.peakMegabytes(),
    small: names.filter((name) => name.endsWith('.webp')).length,
    originals: names.filter((name) => name.endsWith('.png')).length,
  };
  await browser.close();
  return cost;
}

/** Returns when the page has drawn again. */
const SCROLL = `new Promise((drawn) => {
  scrollBy(0, innerHeight * 0.9);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn)));
})`;

/** The cards that are seen have their pictures. */
async function untilDrawn(page: Page): Promise<void> {
  const left = (): Promise<number> =>
    page.evaluate("[...document.querySelectorAll('.card img')].filter((one) => !one.complete).length");
  await expect.poll(left, { timeout: 60_000, interval: 20 }).toBe(0);
}
