// The page of a batch that runs, in a real browser: rows appear as they end, and the end shows without a reload.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Runsheet } from '../../src/index.ts';
import type { Page } from 'playwright-core';
import { CHROMIUM, DESKTOP, openBrowser } from '../results/page/browser.ts';
import { Stage } from '../stage/stage.ts';

const ROWS = 40;
/** Pixels of a line of cards; it may change its place in the line. */
const LINE = 240;
const PATIENT = { timeout: 180_000, interval: 200 };

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
      const most = async (): Promise<number> => Math.max(...seen.add(await done()));
      const until = async (rowsDone: number): Promise<void> => {
        await expect.poll(most, PATIENT).toBeGreaterThanOrEqual(rowsDone);
      };
      await until(12);
      const facts = async (): Promise<string> => (await page.textContent('#facts')) ?? '';
      await expect.poll(facts, PATIENT).toMatch(/Outstanding[12] of 2\d+ waiting/);
      await expect.poll(facts, PATIENT).toMatch(/about [\d.]+ (?:s|min \d+ s) left.*about \$[\d.]+ in total/);

      // The row that ended last comes first: those that one looks at stay where they are.
      await page.setViewportSize({ width: 390, height: 600 });
      await page.click('#filter-toggle');
      await page.click('[data-choice=succeeded]');
      await page.selectOption('#sort', 'ended');
      await page.click('#direction');
      await page.evaluate(
        "scrollTo(0, document.querySelector('#cards').getBoundingClientRect().top + scrollY + 300)",
      );
      const [row, top] = await topOf(page);
      const before = await done();
      await until(before + 6);
      await expect.poll(async () => Math.abs((await topOf(page, row))[1] - top)).toBeLessThan(LINE);

      await batch.pause('to look at the first ones');
      await page.waitForSelector('#trouble');
      expect(await page.textContent('#trouble')).toContain('to look at the first ones');
      expect(await page.getAttribute('#trouble button', 'title')).toBe(
        `runsheet resume ${batch.batchId} --out ${stage.path('batches')}`,
      );
      await batch.resume();
      await until(ROWS);
      expect([...seen].filter((rowsDone) => rowsDone > 0 && rowsDone < ROWS).length).toBeGreaterThan(1);
      await page.setViewportSize(DESKTOP.viewport);
      await page.click('#reset');
      await expect
        .poll(() => page.textContent('#sentence'), { timeout: 30_000 })
        .toBe('All 40 rows succeeded');
      expect(await page.$('#state')).toBeNull();
      await page.waitForSelector('.card img');
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

/** A row, or the first one below the bar, and how far it is from the top of the window. */
async function topOf(page: Page, wanted?: string): Promise<readonly [row: string, top: number]> {
  const tops = await page.$$eval('.card', (cards) =>
    cards.map((card) => [card.getAttribute('data-row') ?? '', card.getBoundingClientRect().top] as const),
  );
  const [first = ['', 0]] = tops
    .filter(([row, top]) => (wanted === undefined ? top > 60 : row === wanted))
    .toSorted(([, a], [, b]) => a - b);
  return first as readonly [string, number];
}
