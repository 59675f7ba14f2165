// Every view of the pages, light and dark, on a desktop and on a phone, as axe-core judges it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfigWith } from '../../../src/host/settings/config.ts';
import { compareBatches } from '../../../src/library/report/compared-batches.ts';
import { writeTwoBatches } from '../compare/compared-scene.ts';
import { CHROMIUM, DESKTOP, openBrowser, openPage, PHONE } from './browser.ts';
import { writePipelinePage } from './pipeline-page.ts';
import { writeScene } from './scene.ts';
import { violationsOf } from './violations.ts';

type Act = (page: Page) => Promise<unknown>;
/** From one to the next, on one page. */
const REPORT: readonly (readonly [view: string, act: Act])[] = [
  ['rows', async () => undefined],
  ['filters', async (page) => (await page.isVisible('#filter-toggle')) && page.click('#filter-toggle')],
  ['failures', (page) => page.$eval('#attention', (element) => element.setAttribute('open', ''))],
  ['a line for each row', (page) => page.selectOption('#density', '3')],
  ['nothing found', (page) => page.fill('#search', 'nothing has this')],
  ['grid', (page) => page.click('#tab-grid')],
  ['time', (page) => page.click('#tab-times')],
  ['cost', (page) => page.click('#tab-costs')],
  [
    'a row',
    (page) => page.evaluate("location.hash = '#SKU-0011'").then(() => page.waitForSelector('#strip')),
  ],
  ['a row that failed', (page) => page.keyboard.press('Escape').then(() => openFailed(page))],
];
const PIPELINE: readonly (readonly [view: string, act: Act])[] = [['stages', async () => undefined]];
const COMPARISON: readonly (readonly [view: string, act: Act])[] = [
  ['pairs', async () => undefined],
  ['a pair', (page) => page.click('[data-place="1"]')],
  ['the slider', (page) => page.keyboard.press('2')],
];

async function openFailed(page: Page): Promise<void> {
  await page.click('#tab-rows');
  await page.$eval('#attention', (element) => element.setAttribute('open', ''));
  await page.click('#failures .clip');
  await page.waitForSelector('#side .reason');
}

describe.skipIf(CHROMIUM === undefined)('the pages without a violation (skipped without Chromium)', () => {
  let folder = '';
  let report = '';
  let comparison = '';
  let pipeline = '';
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'runsheet-accessible-'));
    report = pathToFileURL(await writeScene(join(folder, 'one'), { rows: 90, pictures: 12, same: 14 })).href;
    writeTwoBatches(folder, 12);
    comparison = (await compareBatches(loadConfigWith({ RUNSHEET_OUT: folder }), ['slow', 'fast'])).page.href;
    pipeline = await writePipelinePage(folder, 'finals');
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    it.each([
      ['a batch on a desktop', () => report, REPORT, DESKTOP],
      ['a batch on a phone', () => report, REPORT, PHONE],
      ['a comparison on a desktop', () => comparison, COMPARISON, DESKTOP],
      ['a comparison on a phone', () => comparison, COMPARISON, PHONE],
      ['a pipeline on a desktop', () => pipeline, PIPELINE, DESKTOP],
      ['a pipeline on a phone', () => pipeline, PIPELINE, PHONE],
    ] as const)('%s', async (_, address, views, options) => {
      const page = await openPage(browser, address(), { ...options, colorScheme });
      for (const [view, act] of views) {
        await act(page);
        expect([view, await violationsOf(page)]).toEqual([view, []]);
      }
      await page.close();
    });
  });
});
