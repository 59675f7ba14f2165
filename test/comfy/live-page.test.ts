// The live page of a service in front of ComfyUIs.

import { describe, expect, it } from 'vitest';
import type { Dashboard } from '../../src/run-service/dashboard/dashboard.ts';
import { cookieOf, dashboardOf, openPage } from '../run-service/live-page.ts';
import { until } from '../stage/stage.ts';
import { openStandIn, OwnService, portrait, openOwn } from './own-service.ts';

type Server = Dashboard['servers'][number];

async function serverOf(own: OwnService, isDone: (server: Server) => boolean): Promise<Server> {
  const read = async (): Promise<Server | undefined> => (await dashboardOf(own)).servers[0];
  let server = await read();
  await until(async () => {
    server = await read();
    return server !== undefined && isDone(server);
  }, 'the live page shows the server as wished');
  return server as Server;
}

describe('the live page', () => {
  it('shows what is at work, not a run that may have ended', async () => {
    const { gpu, own } = await openOwn(portrait({ draw: 'PaidDraw', seconds: 3600 }));
    const unknown = await own.queue({});
    await own.until(unknown, ({ status }) => status === 'running');
    await gpu.kill();
    await gpu.start();
    await own.until(unknown, ({ status }) => status === 'timeout');
    const id = await own.queue({});
    await own.until(id, ({ status }) => status === 'running');
    const { atWork, ended } = await dashboardOf(own);
    expect([atWork, ended].map((runs) => runs.map((run) => run.id))).toEqual([[id], [unknown]]);
  });

  it('shows what a ComfyUI executes and how far it is, the picture afterwards, and when it is away', async () => {
    const gpu = await openStandIn({ device: 'cuda:0 NVIDIA GeForce RTX 4090' });
    const graph = portrait({ seconds: 3600 });
    Object.assign(graph['5']?.inputs ?? {}, { steps: 2 });
    const own = await OwnService.of([gpu], graph);
    const idle = await serverOf(own, ({ state }) => state === 'idle');
    expect(idle).toMatchObject({
      name: new URL(gpu.url).host,
      version: expect.stringMatching(/^\d/),
      run: null,
    });
    expect(idle.gpu).toContain('RTX 4090');
    const id = await own.queue({ prompt: 'a hound' });
    await serverOf(own, ({ run }) => run?.doing === 'Executing Sleep');
    gpu.wake();
    const busy = await serverOf(own, ({ run }) => (run?.progress ?? 0) > 0);
    expect(busy).toMatchObject({
      state: 'busy',
      seconds: expect.any(Number),
      run: { number: 1, deployment: 'portrait' },
    });
    const page = await openPage(own.service);
    const text = () => page.document.querySelector('#servers')?.textContent ?? '';
    expect(text()).toMatch(/RTX 4090 · ComfyUI \d.*busy for .* m?s#1 portrait: Executing Sleep/);
    expect(page.document.querySelectorAll('#servers progress')).toHaveLength(1);
    gpu.wake();
    await own.until(id);
    await page.next();
    expect(page.document.querySelectorAll('#servers progress')).toHaveLength(0);
    const picture = page.document.querySelector('#ended img')?.getAttribute('src') ?? '';
    const answer = await fetch(`${own.service.url}${picture}`, { headers: await cookieOf(own) });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    await gpu.kill();
    await serverOf(own, ({ state }) => state === 'away');
    await page.next();
    expect(text()).toMatch(/does not answer for .* m?s: \S/);
  });
});
