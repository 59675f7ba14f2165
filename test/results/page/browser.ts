// Chromium, as the tests of the report use it. A machine without one skips them.

import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** undefined: these tests are skipped. */
export const CHROMIUM = PLACES.find((path) => existsSync(path));

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });

export const DESKTOP = { viewport: { width: 1280, height: 1700 } } as const;
export const PHONE = { viewport: { width: 390, height: 2400 }, hasTouch: true, isMobile: true } as const;

/** Opens an address and waits until the page has its rows; throws what the page throws or refuses to load. */
export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = DESKTOP,
): Promise<Page> {
  const page = await browser.newPage(options);
  page.on('pageerror', (error) => {
    throw error;
  });
  page.on('console', (message) => {
    if (message.type() === 'error') throw new Error(message.text());
  });
  await page.goto(address);
  await page.waitForSelector('html[data-ready]');
  return page;
}

/** The pictures that the page has loaded: the proportions that they have, and how they fit into their frames. */
export const drawn = (page: Page, selector: string): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('${selector}')]
    .filter(({ complete, naturalWidth }) => complete && naturalWidth > 0)
    .map((one) => (one.naturalWidth / one.naturalHeight).toFixed(1) + ' ' + getComputedStyle(one).objectFit)`);

/** The keys of the cards in the window, in the order in which they are seen. */
export const keysOf = (page: Page): Promise<readonly string[]> =>
  page.$$eval('.card', (cards) =>
    cards
      .map((card) => ({
        place: Number(card.getAttribute('data-place')),
        key: card.getAttribute('href') ?? '',
      }))
      .sort((a, b) => a.place - b.place)
      .map(({ key }) => decodeURIComponent(key.slice(1))),
  );
