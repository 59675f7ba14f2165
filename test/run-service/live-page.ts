// The live page as a browser sees it that has opened its address.

import { runInNewContext } from 'node:vm';
import { parseHTML } from 'linkedom';
import { onTestFinished } from 'vitest';
import type { Dashboard } from '../../src/run-service/dashboard/dashboard.ts';
import type { LocalService } from '../../src/run-service/server.ts';

type Opened = { readonly service: Pick<LocalService, 'url' | 'dashboardPage'> };

export async function cookieOf({ service }: Opened): Promise<{ readonly cookie: string }> {
  const { headers } = await fetch(service.dashboardPage, { redirect: 'manual' });
  return { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
}

export const dashboardOf = async ({ service }: Opened): Promise<Dashboard> =>
  (await (await fetch(`${service.url}/live`, { headers: await cookieOf({ service }) })).json()) as Dashboard;

/** The page with its running script, after its first request; `next` triggers the request of the next second. */
export async function openPage(service: Opened['service']) {
  const { url } = service;
  const headers = await cookieOf({ service });
  const { document } = parseHTML(await (await fetch(url, { headers })).text());
  let wake = (): void => undefined;
  let rested = new Promise<void>((resolve) => (wake = resolve));
  let look = (): void => undefined;
  const context = {
    document,
    fetch: (path: string) => fetch(url + path, { headers }),
    setTimeout: (work: () => void) => {
      look = work;
      wake();
    },
    clearTimeout: () => undefined,
  };
  onTestFinished(() => {
    look = () => undefined;
  });
  runInNewContext(document.querySelector('script')?.textContent ?? '', context);
  await rested;
  const next = async (): Promise<void> => {
    rested = new Promise((resolve) => (wake = resolve));
    look();
    await rested;
  };
  return { document, next };
}
