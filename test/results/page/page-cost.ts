// The processor time and memory of a page, as the browser and the system count them.

import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';

const LOOK_MS = 20;

/** Counts the processor seconds of the page's thread from now on. */
export async function openPageClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Infinity;
  };
}

export type PageMemory = {
  /** The most since it was opened; it looks no longer afterwards. */
  peakMegabytes(): Promise<number>;
};

/** The memory of the largest of the browser's page processes: its own pages, without the program, which all of them share. */
export async function openPageMemory(browser: Browser): Promise<PageMemory> {
  const session = await browser.newBrowserCDPSession();
  const ended = new AbortController();
  let peak = 0;
  const looking = (async () => {
    for await (const _ of setInterval(LOOK_MS, undefined, { signal: ended.signal })) {
      const { processInfo } = await session.send('SystemInfo.getProcessInfo');
      for (const { type, id } of processInfo)
        if (type === 'renderer') peak = Math.max(peak, ownMegabytesOf(id));
    }
  })().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  return {
    peakMegabytes: async () => {
      ended.abort();
      await looking;
      return peak;
    },
  };
}

/** A process may have ended since it was listed. */
function ownMegabytesOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return (Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1_024) / 1e6;
  } catch {
    return 0;
  }
}
