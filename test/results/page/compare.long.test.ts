// The page of a comparison as a person uses it, opened from its folder in a real browser.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfigWith } from '../../../src/host/settings/config.ts';
import { compareBatches } from '../../../src/library/report/compared-batches.ts';
import { CHROMIUM, DESKTOP, drawn, openBrowser, openPage, PHONE } from './browser.ts';
import { HOSTILE, writeTwoBatches } from '../compare/compared-scene.ts';

const ROWS = 80;

describe.skipIf(CHROMIUM === undefined)('a comparison in a browser (skipped without Chromium)', () => {
  let out = '';
  let address = '';
  let browser: Browser;

  beforeAll(async () => {
    out = mkdtempSync(join(tmpdir(), 'runsheet-compare-page-'));
    writeTwoBatches(out, ROWS);
    const { page } = await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast']);
    address = page.href;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(out, { recursive: true });
  });

  const open = async (hash = '', options = {}): Promise<Page> => {
    const page = await openPage(browser, `${address}${hash}`, { ...DESKTOP, ...options });
    onTestFinished(() => page.close());
    return page;
  };
  const text = async (page: Page, selector: string): Promise<string> =>
    (await page.textContent(selector)) ?? '';
  const isVisible = (page: Page, selector: string): Promise<boolean> => page.isVisible(selector);

  it('begins with the verdict and the pair whose outcome differs', async () => {
    const page = await open();
    expect(await text(page, '#sentence')).toMatch(/^H100 \d\.\d× faster, 1\.4× dearer$/);
    expect(await text(page, '.pair')).toContain('SKU-7outcome differs');
    expect(await page.innerText('#only')).toMatch(/^2 rows only in\s+B\s+SKU-81/);
  });

  it('draws both pictures of a pair beside each other, in their own proportions', async () => {
    const page = await open();
    const shapes = async () => [...new Set(await drawn(page, '.pair .frame img'))].toSorted();
    const whole = ['0.7', '1.0', '1.6'].map((shape) => `${shape} contain`);
    await expect.poll(shapes).toEqual(whole);
    const [a, b] = await page.$$eval('[data-place="1"] .frame', (elements) =>
      elements.map((element) => element.getBoundingClientRect()),
    );
    expect(a?.top).toBe(b?.top);
    expect(a?.right).toBeLessThan(b?.left ?? 0);
  });

  it('filters, finds and sorts pairs, and has the last one when one scrolls to the end', async () => {
    const page = await open();
    const cards = async (): Promise<number> => Number(/^\d+/.exec(await text(page, '#count'))?.[0]);
    expect(await cards()).toBe(ROWS);
    expect(await page.$$('.pair')).not.toHaveLength(ROWS);
    await page.evaluate('scrollTo(0, 1e6)');
    await page.waitForSelector(`[data-place="${ROWS - 1}"]`);
    await page.click('[data-choice=identical]');
    const identical = await cards();
    expect(await text(page, '#count')).toBe(`${identical} of ${ROWS} pairs`);
    await page.click('[data-choice=differs]');
    expect(await cards()).toBe(ROWS - identical);
    await page.click('[data-choice=outcome]');
    expect(await cards()).toBe(1);
    await page.click('[data-choice=""]');
    await page.fill('#search', 'SKU-17 portrait');
    expect(await cards()).toBe(1);
    await page.fill('#search', 'nothing has this');
    await page.click('#nothing button');
    await page.selectOption('#sort', 'row');
    expect(await text(page, '.pair b')).toBe('SKU-1');
  });

  it('moves the border between both pictures with the slider', async () => {
    const page = await open('#SKU-6');
    await page.keyboard.press('2');
    const border = () =>
      page.evaluate<number>(
        `(() => { const { left, width } = document.querySelector('.overlay').getBoundingClientRect();
          return left + width * Number.parseFloat(document.querySelector('.overlay').style.getPropertyValue('--at')) / 100; })()`,
      );
    await expect
      .poll(async () => (await page.locator('.overlay').boundingBox())?.width ?? 0)
      .toBeGreaterThan(300);
    const { x, y, width } = (await page.locator('.overlay').boundingBox()) ?? { x: 0, y: 0, width: 0 };
    await page.mouse.move(x + width / 2, y + 100);
    await page.mouse.down();
    await page.mouse.move(x + width / 5, y + 120);
    await page.mouse.up();
    expect(Math.abs((await border()) - (x + width / 5))).toBeLessThan(2);
    await page.mouse.move(x + width, y + 120);
    expect(Math.abs((await border()) - (x + width / 5))).toBeLessThan(2);
  });

  it('shows B while the space bar is held, and returns to what was shown', async () => {
    const page = await open('#SKU-6');
    await page.keyboard.press('3');
    expect(await isVisible(page, '.over-a')).toBe(true);
    await page.keyboard.down(' ');
    expect(await isVisible(page, '.over-a')).toBe(false);
    expect(await isVisible(page, '.over-b')).toBe(true);
    await page.keyboard.up(' ');
    expect(await isVisible(page, '.over-b')).toBe(false);
    await page.keyboard.press('1');
    await page.keyboard.down(' ');
    expect(await isVisible(page, '.over-b')).toBe(true);
    await page.keyboard.up(' ');
    expect(await page.$$('#stage .half img')).toHaveLength(2);
  });

  it('computes the difference in the browser: black for identical pictures', async () => {
    const page = await open('#SKU-5');
    await page.keyboard.press('4');
    const middle = async (): Promise<number> => {
      const { x, y, width, height } = (await page.locator('.overlay').boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 1,
        height: 1,
      };
      const clip = { x: x + 4, y: y + 4, width: width - 8, height: height - 8 };
      return (await page.screenshot({ clip })).length;
    };
    expect(await text(page, '#side .pill')).toBe('identical');
    await expect
      .poll(async () => (await page.locator('.overlay').boundingBox())?.width ?? 0)
      .toBeGreaterThan(300);
    const black = await middle();
    await page.click('[data-mode=blink]');
    await expect.poll(middle).toBeGreaterThan(black * 1.2);
  });

  it('goes to neighbours with the arrow keys, closes with Esc, and marks inputs that differ', async () => {
    const page = await open('#SKU-8');
    expect(await text(page, '#side .changes')).toContain('seed');
    expect(await text(page, '#side .changes ins')).toBe('7');
    const before = await text(page, '#position');
    await page.keyboard.press('ArrowRight');
    expect(await text(page, '#position')).not.toBe(before);
    await page.keyboard.press('ArrowLeft');
    expect(await text(page, '#side h2')).toBe('SKU-8');
    await page.keyboard.press('Escape');
    expect(await page.$('dialog[open]')).toBeNull();
    expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe('#SKU-8');
  });

  it('shows hostile text as text', async () => {
    const page = await open();
    await page.selectOption('#sort', 'row');
    expect(await text(page, '[data-place="2"] b')).toBe(HOSTILE);
    expect(await page.title()).toBe('slow and fast');
  });

  it('has both pictures beside each other on a phone, and nothing is wider; and is dark where one prefers that', async () => {
    const page = await open('', { ...PHONE, colorScheme: 'dark' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    const frames = await page.$$eval('[data-place="0"] .frame', (elements) =>
      elements.map((element) => element.getBoundingClientRect().top),
    );
    expect(new Set(frames).size).toBe(1);
    const paper = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(Math.max(...(paper.match(/\d+/g) ?? ['255']).map(Number))).toBeLessThan(40);
    await page.tap('[data-place="1"]');
    await page.tap('[data-mode=slider]');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });
});
