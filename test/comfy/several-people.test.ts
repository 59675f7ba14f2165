// The service for several people: reached from other machines, under an address that is not its own.

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import Fastify from 'fastify';
import { DEFAULT_PRICES } from '../../src/options/facts/gpu.ts';
import { deploymentSpecSchema } from '../../src/run-service/service-deployments.ts';
import { sendFile } from '../../src/run-service/routes/output-files.ts';
import { KeptFiles } from '../../src/run-service/executors/driving/kept-files.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openStandIn, OwnService, portrait, type Run, openOwn } from './own-service.ts';

const SHARED = { host: '0.0.0.0', publicUrl: 'https://runs.example/gpus/' };
const urlOf = ({ outputs }: Run): string => Object.values(outputs[0]?.data ?? {})[0]?.[0]?.url ?? '';

describe('a service that other machines reach', () => {
  it('names files and uploads by its public address', async () => {
    const { own } = await openOwn(portrait(), {}, SHARED);
    expect(own.service.base).toBe('https://runs.example/gpus/api');
    const url = urlOf(await own.until(await own.queue({})));
    expect(url).toMatch(/^https:\/\/runs\.example\/gpus\/files\/runs\//);
    const local = url.replace('https://runs.example/gpus', own.service.url);
    expect((await fetch(local)).headers.get('content-type')).toBe('image/png');
    expect(await own.upload(Buffer.from('x'))).toMatch(/^https:\/\/runs\.example/);
  });

  it.each([
    ['listens for others', { host: '0.0.0.0' }],
    ['is behind a proxy', { publicUrl: 'https://runs.example' }],
  ])('cannot be controlled with a key if it %s', async (_how, options) => {
    const own = await OwnService.of([], undefined, {}, options);
    const headers = { authorization: 'Bearer key' };
    for (const path of ['ledger', 'faults'])
      expect((await fetch(`${own.service.url}/control/${path}`, { headers })).status).toBe(404);
    const added = await fetch(`${own.service.url}/control/gpus`, { method: 'POST', headers, body: '{}' });
    expect(added.status).toBe(404);
    expect((await fetch(own.service.dashboardPage)).status).toBe(403);
  });
});

it('gives a GPU of the user no price, and leaves the one that the simulation sells under the same name its own', async () => {
  const gpu = await openStandIn({ device: 'cuda:0 NVIDIA L4 : native' });
  const simulated = deploymentSpecSchema.parse({ name: 'simulated' });
  const own = await OwnService.of([gpu], portrait(), {}, { deployments: [simulated] });
  const priceFor = async (id: string): Promise<unknown> => {
    const { json } = await own.ask('GET', `/platform/gpu-pricing?deployment_id=${id}`);
    return (json as Readonly<Record<string, number>>)['L4'];
  };
  expect(await priceFor(own.deployment)).toBe(0);
  expect(await priceFor(simulated.id)).toBe(DEFAULT_PRICES['L4']);
});

describe('the files of runs', () => {
  it.each([
    ['image/png', undefined],
    ['video/mp4', undefined],
    ['image/svg+xml', 'attachment'],
    ['text/html; charset=utf-8', 'attachment'],
    ['application/octet-stream', 'attachment'],
  ])(
    'of the type %s are sent with the disposition %s, and no browser guesses the type',
    async (type, how) => {
      const app = Fastify();
      app.get('/', (_request, reply) => sendFile(reply, { type, bytes: 1, content: Buffer.from('<') }));
      const { headers } = await app.inject('/');
      expect([headers['content-type'], headers['content-disposition']]).toEqual([type, how]);
      expect(headers['x-content-type-options']).toBe('nosniff');
    },
  );

  it('are kept until their whole day is older', () => {
    const folder = freshFolder();
    for (const day of ['2026-03-01', '2026-03-02', '2026-03-03', 'mine']) mkdirSync(join(folder, day));
    new KeptFiles(folder).drop(Date.parse('2026-03-02T23:59:59Z'));
    expect(readdirSync(folder).toSorted()).toEqual(['2026-03-02', '2026-03-03', 'mine']);
  });

  it('are gone with a service that keeps nothing', async () => {
    const folder = freshFolder();
    vi.stubEnv('TMPDIR', folder);
    const own = await OwnService.of([], undefined, {}, { database: ':memory:' });
    await own.close();
    vi.unstubAllEnvs();
    expect(readdirSync(folder).filter((name) => name.startsWith('runsheet-files-'))).toEqual([]);
  });

  it('answer 404 when they are dropped, and the run stays', async () => {
    const { own } = await openOwn();
    const id = await own.queue({});
    await own.until(id);
    await own.close();
    // A negative age makes the files two days old.
    own.options = { keepFilesMs: -2 * 86_400_000 };
    await own.open();
    const run = await own.run(id);
    expect(run.status).toBe('success');
    expect((await fetch(urlOf(run))).status).toBe(404);
  });
});
