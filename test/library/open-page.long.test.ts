// The page of a batch of 2,000 fast rows, followed in a real browser from its first rows to its end, and its file from the folder.

import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Runsheet } from '../../src/index.ts';
import { CHROMIUM, DESKTOP, openBrowser, openPage } from '../results/page/browser.ts';
import { deploymentsOf, KEY, Stage } from '../stage/stage.ts';

const ROWS = 2_000;
const SLOTS = 60;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: SLOTS, runSeconds: 0.3, runSpread: 0.5 });
/** Pixels of a line of cards: an odd number of new rows moves one of two columns by a line, and no number by more. */
const LINE = 251;
const PATIENT = { timeout: 120_000, interval: 100 };

describe.skipIf(CHROMIUM === undefined)('the living page of 2,000 rows (skipped without Chromium)', () => {
  const stage = new Stage();
  let runsheet: Runsheet;
  let browser: Browser;
  beforeAll(async () => {
    const { base } = await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    runsheet = await connect({
      store: stage.path('batches'),
      home: stage.path('home'),
      service: { url: base, apiKey: KEY },
      embedded: true,
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await runsheet[Symbol.asyncDispose]();
    await stage.close();
  });

  it('shows what the batch does, keeps its rows in place, and ends as the file in the folder begins', async () => {
    const rows = Array.from({ length: ROWS }, (_, at) => ({ prompt: `portrait ${at + 1}`, seed: at + 1 }));
    const batch = await runsheet.start(rows, { deployment: 'portraits', concurrency: SLOTS });
    await using report = await batch.report();
    expect(report.path).toBeUndefined();
    const page = await browser.newPage(DESKTOP);
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(report.address.href);
    const until = async (done: number): Promise<void> => {
      await expect.poll(() => doneOn(page), PATIENT).toBeGreaterThanOrEqual(done);
    };

    await until(150);
    expect(await page.textContent('#sentence')).toMatch(/^[\d,]+ of 2,000 rows done$/);
    const patterns = [
      /So far[\d.]+ (?:s|min \d+ s)about [\d.]+ (?:s|min \d+ s) left/,
      /Cost, estimated\$[\d.]+about \$[\d.]+ in total/,
      /Speed[\d,.]+rows\/min/,
      new RegExp(`In flight\\d+ of ${SLOTS}[\\d,]+ waiting`),
    ];
    for (const fact of patterns) await expect.poll(() => page.textContent('#facts'), PATIENT).toMatch(fact);

    // The rows that ended last come first, so hundreds of them appear above the one in the window of a phone.
    await page.setViewportSize({ width: 390, height: 600 });
    await page.click('#filter-toggle');
    await page.click('[data-choice=succeeded]');
    await page.selectOption('#sort', 'ended');
    await page.click('#direction');
    await page.evaluate(
      "scrollTo(0, document.querySelector('#cards').getBoundingClientRect().top + scrollY + 300)",
    );
    const [row, top] = await topOf(page);
    const [doneBefore, scrolledBefore] = [await doneOn(page), await page.evaluate<number>('scrollY')];
    await until(doneBefore + 200);
    const [, topNow] = await topOf(page, row);
    expect(Math.abs(topNow - top)).toBeLessThan(LINE);
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThan(scrolledBefore + 2 * LINE);

    await batch.pause('to look closer');
    await page.waitForSelector('#trouble');
    expect(await page.textContent('#state')).toBe('paused');
    expect(await page.textContent('#trouble')).toContain('to look closer');
    expect(await page.getAttribute('#trouble button', 'title')).toBe(
      `runsheet resume ${batch.batchId} --out ${stage.path('batches')}`,
    );
    await expect.poll(() => page.textContent('#facts'), PATIENT).toContain('Outstanding0 of');
    const paused = await doneOn(page);
    expect(paused).toBeLessThan(ROWS);
    await batch.resume();
    await page.setViewportSize(DESKTOP.viewport);

    await expect
      .poll(() => page.textContent('#sentence'), { ...PATIENT, timeout: 240_000 })
      .toBe('All 2,000 rows succeeded');
    expect(await page.$('#state')).toBeNull();
    const { runs, total_cost_usd: cost = 0 } = await batch.result();
    expect([runs, errors]).toEqual([ROWS, []]);
    const facts = await page.$$eval('#facts > div', (elements) =>
      elements.map((element) => element.textContent ?? ''),
    );
    expect(facts).toEqual(expect.arrayContaining(['Runs2,000', 'Bought twice0']));
    expect(facts.find((fact) => fact.startsWith('Cost'))).toContain(`$${cost?.toFixed(2)}`);

    await page.click('#reset');
    await page.click('.card[data-place="3"]');
    await page.waitForSelector('#side dl');
    expect(await page.textContent('#side dl')).toContain('portrait 4');

    // A double click on the file.
    const { path = '' } = await batch.report();
    const file = await openPage(browser, pathToFileURL(path).href);
    expect(await file.textContent('#sentence')).toBe('All 2,000 rows succeeded');
    expect(await file.textContent('#count')).toBe('2,000 rows');
    expect(
      await file.$$eval('#facts > div', (elements) => elements.map((element) => element.textContent ?? '')),
    ).toEqual(facts);
    await expect
      .poll(() => file.$$eval('.card img', (elements) => elements.every((element) => element.complete)))
      .toBe(true);
  });

  it('grows by double click in the folder of the batch, and says how old it is', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ prompt: `chair ${at + 1}`, seed: at + 1 }));
    const batch = await runsheet.start(rows, { deployment: 'portraits', concurrency: 8, name: 'beside' });
    const address = pathToFileURL(stage.path('batches', 'beside', 'report.html')).href;
    const page = await browser.newPage(DESKTOP);
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await expect.poll(() => page.goto(address).catch(() => undefined), PATIENT).toBeDefined();
    await expect.poll(() => doneOn(page), PATIENT).toBeGreaterThanOrEqual(30);
    expect(await page.textContent('#state')).toMatch(/^as of /);
    expect(await page.$('#trouble')).toBeNull();
    await page.click('[data-choice=succeeded]');
    await page.click('.card[data-place="3"]');
    await page.waitForSelector('#side dl');
    expect(await page.textContent('#side dl')).toMatch(/chair \d/);
    await page.keyboard.press('Escape');

    await batch.pause();
    await page.evaluate('Object.assign(Date, { now: ((now) => () => now() + 90_000)(Date.now) })');
    await page.waitForSelector('#trouble');
    expect(await page.textContent('#trouble')).toMatch(
      /^No row has ended for 1 min \d+ s\S.* status beside --out \S+ says why$/,
    );
    await batch.resume();
    await expect.poll(() => page.textContent('#state'), PATIENT).toBe('ended');
    await page.reload();
    await expect.poll(() => page.textContent('#sentence')).toBe('All 300 rows succeeded');
    expect([await page.$('#state'), errors]).toEqual([null, []]);
  });

  it('a page whose server has ended gives the command that serves it again', async () => {
    const rows = Array.from({ length: 50 }, (_, at) => ({ prompt: `table ${at + 1}`, seed: at + 1 }));
    const batch = await runsheet.start(rows, { deployment: 'portraits', concurrency: 1, name: 'served' });
    const page = await browser.newPage(DESKTOP);
    {
      await using report = await batch.report();
      await page.goto(report.address.href);
      await expect.poll(() => doneOn(page), PATIENT).toBeGreaterThanOrEqual(1);
    }
    await expect.poll(() => page.textContent('#state'), PATIENT).toBe('the server does not answer');
    expect(await page.textContent('#trouble')).toBe(
      `The command that serves this page may have endedTo serve it again: runsheet open served --out ${stage.path('batches')}`,
    );
    await batch.cancel();
  });
});

/** How many rows have ended, as the page says. */
const doneOn = async (page: Page): Promise<number> =>
  Number(/[\d,]+/.exec((await page.textContent('#sentence')) ?? '')?.[0].replaceAll(',', ''));

/** A row, or the first one below the bar, and how far it is from the top of the window. */
async function topOf(page: Page, wanted?: string): Promise<readonly [row: string, top: number]> {
  const tops = await page.$$eval('.card', (cards) =>
    cards.map((card) => [card.getAttribute('data-row') ?? '', card.getBoundingClientRect().top] as const),
  );
  const [first = ['', Infinity]] = tops
    .filter(([row, top]) => (wanted === undefined ? top > 60 : row === wanted))
    .toSorted(([, a], [, b]) => a - b);
  return first as readonly [string, number];
}
