// A grid of 12 prompts, 10 seeds and 3 numbers of steps, as a person looks at it, picks from it, and sends it to somebody.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RowRecord } from '../../../src/results/row-record.ts';
import { CHROMIUM, DESKTOP, drawn, openBrowser, openPage } from './browser.ts';
import { writeScene } from './scene.ts';

const [PROMPTS, SEEDS, STEPS] = [12, 10, 3];
const HOSTILE = `<img src=x onerror="document.title=1"> \u001B[31m ${'long '.repeat(200)}`;

const inGrid = (record: RowRecord): RowRecord => {
  const at = record.row - 1;
  const prompt = Math.floor(at / (SEEDS * STEPS));
  const inputs = {
    ...record.inputs,
    prompt: prompt === 1 ? HOSTILE : `prompt ${prompt + 1}`,
    seed: String((Math.floor(at / STEPS) % SEEDS) + 1),
    steps: [20, 30, 40][at % STEPS] ?? 0,
  };
  return { ...record, inputs };
};

describe.skipIf(CHROMIUM === undefined)('the grid of a batch (skipped without Chromium)', () => {
  let folder = '';
  let address = '';
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-grid-'));
    const rows = PROMPTS * SEEDS * STEPS;
    const grid = ['prompt', 'seed', 'steps'];
    address = pathToFileURL(await writeScene(folder, { rows, grid, failing: 0, change: inGrid })).href;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  const open = async (): Promise<Page> => {
    const page = await openPage(browser, address, { ...DESKTOP, viewport: { width: 1280, height: 900 } });
    onTestFinished(() => page.close());
    await page.click('#tab-grid');
    return page;
  };
  const hrefs = (page: Page): Promise<readonly (string | null)[]> =>
    page.$$eval('#grid .card', (elements) => elements.map((element) => element.getAttribute('href')));
  const box = async (page: Page, selector: string) =>
    (await page.locator(selector).first().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

  it('has a line for each prompt, a column for each seed, and a page for each number of steps', async () => {
    const page = await open();
    expect(await page.$$('#grid tbody tr')).toHaveLength(PROMPTS);
    expect(
      await page.$$eval('#grid thead th', (elements) => elements.map((element) => element.textContent)),
    ).toEqual(Array.from({ length: SEEDS }, (_, at) => `${at + 1}`));
    const first = await hrefs(page);
    expect(first.slice(0, 2)).toEqual(['#SKU-0001', '#SKU-0004']);
    await page.click('[aria-label="Next page"]');
    expect((await hrefs(page)).slice(0, 2)).toEqual(['#SKU-0002', '#SKU-0005']);
    await page.selectOption('#grid-page', '2');
    const third = await hrefs(page);
    expect(third).toHaveLength(PROMPTS * SEEDS);
    expect(new Set([...first, ...third]).size).toBe(PROMPTS * SEEDS * 2);
    await expect.poll(async () => (await drawn(page, '#grid img')).length).toBeGreaterThan(20);
  });

  it('takes any two columns as its axes', async () => {
    const page = await open();
    await page.selectOption('#grid-lines', { label: 'category (4)' });
    await page.selectOption('#grid-columns', { label: 'steps (3)' });
    expect(await page.$$('#grid .card')).toHaveLength(12);
    expect(await page.textContent('#grid .more')).toMatch(/^\d+ rows$/);
  });

  it('keeps its heads in sight, and its size from page to page', async () => {
    const page = await open();
    const before = (await box(page, '#grid .card')).width;
    await page.click('[aria-label="Larger"]');
    await page.click('[aria-label="Next page"]');
    expect((await box(page, '#grid .card')).width).toBeGreaterThan(before);
    await page.$eval('#grid', (grid) => grid.scrollTo(700, 900));
    const [grid, column, line] = [
      await box(page, '#grid'),
      await box(page, '#grid thead'),
      await box(page, '#grid tbody th'),
    ];
    expect(Math.abs(column.y - grid.y)).toBeLessThan(8);
    expect(Math.abs(line.x - grid.x)).toBeLessThan(8);
  });

  it('goes by arrow keys, opens a row, and goes on to its neighbour in the grid', async () => {
    const page = await open();
    await page.focus('[data-cell="0,0"]');
    for (const key of ['ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    expect(await page.textContent('#side h2')).toBe('SKU-0034');
    await page.keyboard.press('ArrowRight');
    expect(await page.textContent('#side h2')).toBe('SKU-0037');
    expect(await page.textContent('#position')).toBe(`13 of ${PROMPTS * SEEDS}`);
  });

  it('gives picks as run --pick takes them', async () => {
    const page = await open();
    await page.focus('[data-cell="0,0"]');
    for (const key of ['p', '4', 'ArrowRight', 'x', 'PageDown', '2']) await page.keyboard.press(key);
    await page.click('#tab-rows');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#picks-download')]);
    expect(readFileSync(await download.path(), 'utf8')).toBe('key,stars\nSKU-0001,4\nSKU-0005,2\n');
  });

  it('is saved as one picture, from the folder that its viewer gives', async () => {
    const page = await open();
    const save = async (file: string): Promise<Buffer> => {
      const download = page.waitForEvent('download');
      await page.setInputFiles('input[type=file]', file);
      return readFileSync(await (await download).path());
    };
    const picture = await save(join(folder, 'outputs'));
    const [width, height] = [picture.readUInt32BE(16), picture.readUInt32BE(20)];
    expect(width).toBeGreaterThan(SEEDS * 200);
    expect(height).toBeGreaterThan(PROMPTS * 200);
    expect(picture.length).toBeGreaterThan(2 * (await save(join(folder, 'report'))).length);
  });

  it('shows hostile text as text', async () => {
    const page = await open();
    const heads = await page.$$eval('#grid tbody th', (elements) =>
      elements.map((element) => element.textContent ?? ''),
    );
    expect(heads.find((head) => head.includes('<img'))).toMatch(/^<img src=x onerror=/);
    expect(await page.title()).toBe('autumn-catalogue-7f3a');
    expect((await box(page, '#grid tbody tr:nth-child(2)')).height).toBeLessThan(200);
  });
});
