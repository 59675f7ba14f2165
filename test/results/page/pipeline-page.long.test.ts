// The page of a pipeline as a person uses it, opened from its folder in a real browser.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openBrowser, openPage, PHONE } from './browser.ts';
import { HOSTILE, writePipelinePage } from './pipeline-page.ts';

describe.skipIf(CHROMIUM === undefined)('the page of a pipeline (skipped without Chromium)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-pipeline-'));
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('shows hostile names, reasons and commands as text, and nothing is wider than a phone', async () => {
    const page = await openPage(browser, await writePipelinePage(folder, HOSTILE), PHONE);
    expect(await page.textContent('#sentence')).toBe('1 of 3 stages ended');
    const title = await page.title();
    expect(title).toMatch(/^<img src=x onerror=/);
    expect(await page.$$('img, #page script')).toEqual([]);
    const seen = (await page.textContent('#page')) ?? '';
    expect(seen.split('onerror=').length).toBeGreaterThan(4);
    for (const obeyed of ['\u001B', '\u202E']) expect(seen).not.toContain(obeyed);
    const link = await page.getAttribute('tbody tr:nth-child(2) a', 'href');
    expect(link).toMatch(/^\.\.\/%3Cimg%20src/);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    const command = await page.getAttribute('main button', 'title');
    const copied = await page.$eval('main code', (element) => element.textContent ?? '');
    expect(copied).toMatch(new RegExp(` --out ${dirname(folder)}$`));
    expect(copied).toContain(command?.slice(0, 100) ?? '');
    const name = await page.$eval(
      'tbody tr:first-child th',
      (element) => element.getBoundingClientRect().height,
    );
    expect(name).toBeLessThan(80);
  });
});
