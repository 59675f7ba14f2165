// The report as a person uses it, opened from its folder in a real browser.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AttemptRecord, RowRecord } from '../../../src/results/row-record.ts';
import { CHROMIUM, DESKTOP, drawn, keysOf, openBrowser, openPage, PHONE } from './browser.ts';
import { writeScene } from './scene.ts';

const ROWS = 240;
const LAST = `SKU-0${ROWS}`;
/** A row whose first attempt timed out, and one whose picture moves. */
const LATE = 5;
const MOVING = 9;
/** A row with the inputs and the picture of the one before. */
const REPEAT = 21;
const GIF = movingGif();

describe.skipIf(CHROMIUM === undefined)('the report in a browser (skipped without Chromium)', () => {
  let folder = '';
  let address = '';
  let browser: Browser;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-report-'));
    const hostile = '<img src=x onerror="document.title=1"></script>';
    const rows: RowRecord[] = [];
    const changes: Readonly<Record<number, (record: RowRecord) => Partial<RowRecord>>> = {
      3: () => ({ key: hostile }),
      7: () => ({ key: '50%&50+1' }),
      [LATE]: ({ attempts }) => ({ attempts: [late(attempts[0]), ...attempts] }),
      [MOVING]: () => ({ files: [{ path: 'outputs/moving.gif', bytes: 1, sha256: '0', name: 'm.gif' }] }),
      [REPEAT]: ({ inputs: { sku } }) => {
        const { outcome, files, inputs } = rows[REPEAT - 2] as RowRecord;
        return { outcome, files, inputs: { ...inputs, sku } };
      },
    };
    const path = await writeScene(folder, {
      rows: ROWS,
      pictures: 12,
      same: 14,
      change: (record) => {
        rows.push(record);
        return { ...record, ...changes[record.row]?.(record) };
      },
    });
    writeFileSync(join(folder, 'outputs/moving.gif'), GIF);
    address = pathToFileURL(path).href;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const open = async (hash = '', options = {}): Promise<Page> => {
    const page = await openPage(browser, `${address}${hash}`, { ...DESKTOP, ...options });
    onTestFinished(() => page.close());
    return page;
  };
  const shownRows = async (page: Page): Promise<number> =>
    Number(/^[\d,]+/.exec((await page.textContent('#count')) ?? '')?.[0].replaceAll(',', ''));

  it('shows failures by reason before the cards, and names their rows', async () => {
    const page = await open();
    expect(await page.textContent('#sentence')).toMatch(/^\d+ of 240 rows succeeded$/);
    const [failures, cards] = await page.$$eval('#failures, #cards', (elements) =>
      elements.map((element) => element.getBoundingClientRect().top),
    );
    expect(failures).toBeLessThan(cards ?? 0);
    await page.click('#failures .row-link');
    expect(await page.textContent('#stage .no-picture b')).toBe('failed');
  });

  it('draws pictures in their own proportions', async () => {
    const page = await open();
    await page.fill('#search', 'SKU-01');
    const shapes = async () => [...new Set(await drawn(page, '.frame img'))].toSorted();
    const whole = ['0.7', '0.8', '1.0', '1.6'].map((shape) => `${shape} contain`);
    await expect.poll(shapes).toEqual(whole);
  });

  it('sorts by any column, with numbers as numbers, and back', async () => {
    const page = await open();
    await page.selectOption('#sort', 'cost');
    await page.click('#direction');
    const costs = await page.$$eval('.card .facts', (elements) =>
      elements.map((element) => Number(/\$([\d.]+)/.exec(element.textContent ?? '')?.[1] ?? 0)),
    );
    expect(costs.length).toBeGreaterThan(8);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
    await page.selectOption('#sort', '');
    expect((await keysOf(page))[0]).toBe(LAST);
  });

  it('filters by outcome, GPU, value of a column and text, together', async () => {
    const page = await open();
    await page.selectOption('#value', { index: 1 });
    const [value = ''] = await page.$$eval('#value', (elements) =>
      elements.map((element) => element.selectedOptions[0]?.text ?? ''),
    );
    expect(await shownRows(page)).toBe(Number(/\((\d+)\)$/.exec(value)?.[1]));
    await page.selectOption('#gpu', 'H100');
    const both = await shownRows(page);
    await page.click('[data-choice=succeeded]');
    expect(await shownRows(page)).toBeLessThanOrEqual(both);
    await page.fill('#search', 'bright loft');
    expect(await shownRows(page)).toBeLessThan(both);
    await page.click('#reset');
    expect(await shownRows(page)).toBe(ROWS);
  });

  it('finds what only the full cells have', async () => {
    const page = await open();
    await page.fill('#search', 'muted colours');
    await expect.poll(() => shownRows(page)).toBeGreaterThan(20);
  });

  it('points out rows whose inputs differ and whose pictures are the same, not repeats of the same inputs', async () => {
    const page = await open();
    expect(await page.$$('#notices p')).toHaveLength(1);
    expect(await page.textContent('#notices')).toMatch(
      /^1[0-4] rows with different inputs gave the same picture; is seed wired\?/,
    );
    await page.click('#notices button');
    expect(await shownRows(page)).toBeLessThanOrEqual(14);
  });

  it('enlarges a row with its cells and files, and arrow keys and Esc work', async () => {
    const page = await open();
    await page.click('.card[data-place="10"]');
    expect(await page.textContent('#side h2')).toBe('SKU-0011');
    await page.waitForSelector('#strip .thumb');
    expect(await page.$$('#strip .thumb')).toHaveLength(3);
    expect(await page.textContent('#side dl')).toContain('prompt');
    await page.keyboard.press('ArrowRight');
    expect(await page.textContent('#side h2')).toBe('SKU-0012');
    await expect.poll(() => page.url()).toMatch(/#SKU-0012$/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Escape');
    expect(await page.$('dialog[open]')).toBeNull();
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("href")')).toBe('#SKU-0010');
    await expect.poll(() => page.url()).not.toContain('#');
  });

  it('goes from card to card by keyboard, and opens one', async () => {
    const page = await open();
    await page.focus('.card[data-place="0"]');
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'Enter'])
      await page.keyboard.press(key);
    expect(await page.textContent('#position')).toMatch(/^8 of/);
  });

  it('opens the row that its address names', async () => {
    const page = await open('#SKU-0017');
    expect(await page.textContent('#side h2')).toBe('SKU-0017');
  });

  it('counts one row as one, and shows a little as more than nothing', async () => {
    const little = { run_seconds: 0.02, cold_start_seconds: 0, queue_seconds: 0.004, cost_usd: 0.00001 };
    const path = await writeScene(join(folder, 'one'), {
      rows: 1,
      failing: 0,
      change: (record) => ({
        ...record,
        attempts: record.attempts.slice(-1).map((attempt) => ({ ...attempt, ...little })),
      }),
    });
    const page = await openPage(browser, pathToFileURL(path).href);
    onTestFinished(() => page.close());
    expect(await page.textContent('#sentence')).toBe('1 row succeeded');
    expect(await page.textContent('#count')).toBe('1 row');
    expect(await page.textContent('.card .facts')).toMatch(/ · 20 ms · <\$0.0001$/);
    await page.click('#tab-times');
    expect(await page.textContent('.bars figcaption')).toContain('1 attempt ');
    const most = await page.$$eval('.chart .hidden', (elements) =>
      elements.map((element) => element.textContent),
    );
    expect(most).toEqual([', at most 1', ', at most 23', ', at most 4 ms', ', at most <$0.0001']);
  });

  it('shows no cost of GPUs without a price', async () => {
    const path = await writeScene(join(folder, 'own'), {
      rows: 3,
      failing: 0,
      change: (record) => ({
        ...record,
        attempts: record.attempts.map((attempt) => ({ ...attempt, cost_usd: 0 })),
      }),
    });
    const page = await openPage(browser, pathToFileURL(path).href);
    onTestFinished(() => page.close());
    expect(await page.textContent('#facts')).toMatch(/^Wall time(?!.*Cost)/);
    await page.click('#tab-costs');
    expect(await page.textContent('#views, main')).toContain('No run had a price.');
  });

  it('counts no rows that were never sent in what a row cost and in the speed, and sends any row again', async () => {
    const unsent = { outcome: 'cancelled', attempts: [], files: [] } as const;
    const path = await writeScene(join(folder, 'cancelled'), {
      rows: 600,
      failing: 0,
      change: (record) =>
        record.row > 40
          ? { ...record, ...unsent }
          : {
              ...record,
              attempts: record.attempts.slice(-1).map((attempt) => ({ ...attempt, cost_usd: 0.02 })),
              ...(record.row === 2 && { files: [], texts: ['a <b>poem</b>'] }),
            },
    });
    const page = await openPage(browser, pathToFileURL(path).href);
    onTestFinished(() => page.close());
    const facts = await page.$$eval('#facts > div', (elements) =>
      elements.map((element) => element.textContent),
    );
    expect(facts).toEqual(expect.arrayContaining(['Cost, estimated$0.80$0.0200 a row', 'Speed23rows/min']));
    expect(await page.getAttribute('#failures .button', 'title')).toMatch(
      / --row 41-540 --outcome cancelled$/,
    );
    expect(await page.textContent('#failures .button')).toBe('Copy retry of the first 500');
    await page.click('.card[data-place="1"]');
    await expect.poll(() => page.textContent('#stage')).toBe('succeededa <b>poem</b>');
    expect(await page.textContent('#side section:has(pre)')).toBe('Texta <b>poem</b>');
    const retry = page.getByRole('button', { name: 'Copy retry command' });
    expect(await retry.getAttribute('title')).toMatch(/ --row 2 --outcome succeeded$/);
  });

  it('opens the row that a badly encoded address means', async () => {
    const page = await open('#50%&50+1');
    expect(await page.textContent('#side h2')).toBe('50%&50+1');
  });

  it('keeps picks over a reload, and downloads them as run --pick takes them', async () => {
    const page = await open('#SKU-0020');
    for (const key of ['p', '4', 'ArrowRight', 'x', 'ArrowRight', '2']) await page.keyboard.press(key);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('#');
    await page.reload();
    await page.waitForSelector('html[data-ready]');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#picks-download')]);
    expect(readFileSync(await download.path(), 'utf8')).toBe('key,stars\nSKU-0020,4\nSKU-0022,2\n');
    await page.selectOption('#picked', 'rejected');
    expect(await keysOf(page)).toEqual(['SKU-0021']);
  });

  it('shows hostile text as text', async () => {
    const page = await open();
    expect(await page.textContent('.card[data-row="2"] .caption b')).toContain('<img src=x');
    expect(await page.title()).toBe('autumn-catalogue-7f3a');
  });

  it('has two or three columns on a phone, and nothing is wider than the phone', async () => {
    const page = await open('', PHONE);
    const columns = async (): Promise<number> =>
      new Set(
        await page.$$eval('.card', (elements) =>
          elements.map((element) => element.getBoundingClientRect().left),
        ),
      ).size;
    expect(await columns()).toBe(2);
    await page.selectOption('#density', '0');
    expect(await columns()).toBe(3);
    for (const tab of ['rows', 'times', 'costs']) {
      await page.tap(`#tab-${tab}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    }
    await page.tap('#tab-rows');
    await page.tap('#filter-toggle');
    expect(await page.isVisible('#sort')).toBe(true);
  });

  it('has its first picture in the first 400 pixels of a phone, and filters that fit', async () => {
    const page = await open('', { ...PHONE, viewport: { width: 390, height: 844 } });
    const firstTop = (): Promise<number> => page.$eval('.card', (card) => card.getBoundingClientRect().top);
    expect(await firstTop()).toBeLessThan(400);
    expect(await page.$eval('#facts', ({ clientHeight }) => clientHeight)).toBeLessThan(60);
    await page.tap('#filter-toggle');
    const rights = await page.$$eval('#toolbar select', (elements) =>
      elements.map((element) => element.getBoundingClientRect().right),
    );
    expect(rights.length).toBeGreaterThan(4);
    expect(Math.max(...rights)).toBeLessThanOrEqual(390);
    await page.evaluate('scrollTo(0, 3000)');
    const covered = await page.evaluate(
      "Math.max(...['.bar', '#filters'].map((one) => document.querySelector(one).getBoundingClientRect().bottom))",
    );
    expect(covered).toBeLessThan(60);
    await page.tap('#tab-times');
    expect(await page.$eval('#tabs', (tabs) => tabs.getBoundingClientRect().bottom)).toBeLessThan(130);
  });

  it('is dark where the viewer prefers that, and the text stands out', async () => {
    const page = await open('', { colorScheme: 'dark' });
    const [ink, paper] = (await page.evaluate(
      "['color', 'backgroundColor'].map((name) => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3).map(Number))",
    )) as [number[], number[]];
    expect(Math.max(...paper)).toBeLessThan(40);
    expect(Math.min(...ink)).toBeGreaterThan(200);
  });

  it('shows the course of the batch and what it cost, by GPU and by reason', async () => {
    const page = await open();
    await page.click('#tab-times');
    expect(
      await page.$$eval('.chart b', (elements) => elements.map((element) => element.textContent)),
    ).toEqual(['Runs in flight', 'Runs ended a minute', 'Mean queueing time', 'Cost so far']);
    expect(await page.$$('.bars .attempts')).toHaveLength(3);
    expect(await page.textContent('#panel-times')).toContain('timed-out');
    await page.hover('.chart .u-over');
    const legends = (): Promise<readonly string[]> =>
      page.$$eval('.chart .u-legend', (elements) => elements.map((element) => element.textContent ?? ''));
    await expect.poll(async () => (await legends()).filter((legend) => /\d+ s/.test(legend)).length).toBe(4);
    await page.click('#tab-costs');
    const names = await page.$$eval('.scroll tbody th', (elements) =>
      elements.map((element) => element.textContent),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        'A10G',
        'L40S',
        'H100',
        'First attempt',
        'Sent again after out of memory',
        'Sent again after a time-out',
      ]),
    );
  });

  it('opens an attempt from its bar, by pointer and by keyboard', async () => {
    const page = await open();
    await page.click('#tab-times');
    await page.focus('.bars .attempts');
    await page.keyboard.press('ArrowRight');
    const said = (await page.textContent('.bars [role=status]')) ?? '';
    expect(said).toMatch(/^SKU-\d+, attempt 1: (?:succeeded|failed|timed-out), [\d.]+ s$/);
    await page.keyboard.press('Enter');
    expect(said).toContain(await page.textContent('#side h2'));
    await page.waitForSelector('#side .meant');
    expect(await page.textContent('#side .meant b')).toMatch(/^1\. /);
    await page.keyboard.press('Escape');
    await page.click('.bars .attempts', { position: { x: 3, y: 3 } });
    await page.waitForSelector('#side .meant');
  });

  it('moves nothing for a viewer who wants no motion', async () => {
    const page = await open('#SKU-0011', { reducedMotion: 'reduce' });
    await page.waitForSelector('#strip');
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    const moving = await page.evaluate(
      `[...document.querySelectorAll('*')].map((one) => getComputedStyle(one))
        .filter((one) => parseFloat(one.transitionDuration) > 0 || one.animationName !== 'none' || one.scrollBehavior === 'smooth').length`,
    );
    expect(moving).toBe(0);
  });

  it('shows a picture that moves as its beginning to a viewer who wants no motion', async () => {
    const card = `.card[data-row="${MOVING - 1}"]`;
    const page = await open('', { reducedMotion: 'reduce' });
    expect(await page.$(`${card} img`)).toBeNull();
    await expect.poll(() => page.$eval(`${card} canvas`, ({ width }) => width)).toBe(1);
    await page.click(card);
    await expect.poll(() => page.$eval('#stage canvas', ({ width }) => width)).toBe(1);
    expect(await page.$('#stage img')).toBeNull();
    await page.click('#stage canvas');
    expect(await page.getAttribute('#stage', 'class')).toBe('actual');
    const moving = await open();
    expect(await moving.$(`${card} canvas`)).toBeNull();
    expect(await moving.getAttribute(`${card} img`, 'src')).toBe('outputs/moving.gif');
  });

  it('has commands that work from any folder', async () => {
    const page = await open();
    const title = await page.getAttribute('#failures .button', 'title');
    expect(title).toMatch(/^runsheet retry autumn-catalogue-7f3a --out \/\S+ --row \d/);
    expect(title).toContain(`--out ${dirname(folder)} `);
  });
});

/** An attempt that timed out, before the one that is given. */
const late = (attempt: AttemptRecord | undefined): AttemptRecord => ({
  ...(attempt as AttemptRecord),
  outcome: 'timed-out',
  reason: 'the run reported nothing for 600 s',
});

/** A pixel that is red, then blue. */
function movingGif(): Buffer {
  const frame = (pixel: string): string => `21f90400050000002c00000000010001000002 02${pixel}0100`;
  const head = `${Buffer.from('GIF89a').toString('hex')}01000100800000ff00000000ff`;
  return Buffer.from(`${head}${frame('44')}${frame('4c')}3b`.replaceAll(' ', ''), 'hex');
}
