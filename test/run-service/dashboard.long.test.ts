// The dashboard in a real browser, whose policy and drawing no stand-in has.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, DESKTOP, drawn, openBrowser, PHONE } from '../results/page/browser.ts';
import { violationsOf } from '../results/page/violations.ts';
import { openService } from './asking.ts';

const SLOW = { runSeconds: 3_000, coldStartSeconds: 0, concurrencyLimit: 1 };

describe.skipIf(CHROMIUM === undefined)('the dashboard in a browser (skipped without Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  const openDashboard = async (address: string, options: BrowserContextOptions = DESKTOP): Promise<Page> => {
    const page = await browser.newPage(options);
    page.on('pageerror', (error) => {
      throw error;
    });
    page.on('console', (message) => {
      if (message.type() === 'error') throw new Error(message.text());
    });
    await page.goto(address);
    await page.waitForSelector('#state.fine');
    return page;
  };

  it('draws pictures of ended runs under its own policy, without an error', async () => {
    const opened = await openService();
    await opened.ended(await opened.queue({ inputs: { prompt: 'cat' } }));
    const page = await openDashboard(opened.service.dashboardPage);
    await expect.poll(() => drawn(page, '#ended img'), { timeout: 30_000 }).toHaveLength(1);
    await page.close();
  });

  it('keeps the element of a run while newer runs come before it, so that selection and pictures stay', async () => {
    const opened = await openService(SLOW);
    const cancel = async (prompt: string) =>
      opened.ask('POST', `/api/run/${await opened.queue({ inputs: { prompt } })}/cancel`);
    await cancel('first');
    const page = await openDashboard(opened.service.dashboardPage);
    const words = await page.waitForSelector('#ended .words >> text=first');
    await cancel('second');
    await page.waitForSelector('#ended .words >> text=second');
    const texts = await page.$$eval('#ended .words', (elements) =>
      elements.map(({ textContent }) => textContent),
    );
    expect(texts).toEqual(['second', 'first']);
    expect(await words.evaluate((element) => [element.isConnected, element.textContent])).toEqual([
      true,
      'first',
    ]);
    await page.close();
  });

  it.each([
    ['light', 'desktop'],
    ['dark', 'desktop'],
    ['light', 'phone'],
    ['dark', 'phone'],
  ] as const)('has no violation of accessibility: %s, %s', async (colorScheme, device) => {
    const opened = await openService(SLOW);
    await opened.ask('POST', `/api/run/${await opened.queue()}/cancel`);
    for (const prompt of ['at work', 'next']) await opened.queue({ inputs: { prompt } });
    const size = device === 'phone' ? PHONE : DESKTOP;
    const page = await openDashboard(opened.service.dashboardPage, { ...size, colorScheme });
    await page.waitForSelector('#next >> text=next');
    expect(await violationsOf(page)).toEqual([]);
    await page.close();
  });
});
