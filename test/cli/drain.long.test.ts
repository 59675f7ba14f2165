import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { deploymentsOf, Stage, until, type Running } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';
import { freeAddress } from '../stage/free-port.ts';

const ROWS = 120;
const OUTSTANDING = 40;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 60, runSeconds: 0.5, runSpread: 0 });

describe('a worker that is asked to end while 40 requests wait for their answers', () => {
  let stage = new Stage();
  let worker: Running;
  let listen: string;

  beforeEach(async () => {
    stage = new Stage();
    await stage.temporal();
    // Each answer comes five seconds after its run was created.
    const deployments = stage.write('deployments.json', DEPLOYMENTS);
    await stage.service(['--deployments', deployments, '--fault', 'slow-answer=1']);
    listen = await freeAddress();
  });
  afterEach(() => stage.close());

  /** Workers after each other have one address, so that the webhooks of the first one's runs reach the next. */
  const start = (environment: Readonly<Record<string, string>> = {}): Promise<Running> =>
    stage.worker({
      RUNSHEET_WEBHOOK_LISTEN: listen,
      RUNSHEET_WEBHOOK_URL: `http://${listen}`,
      ...environment,
    });

  async function underLoad(environment: Readonly<Record<string, string>> = {}): Promise<string> {
    worker = await start(environment);
    const args = ['submit', stage.sheet(ROWS), '-d', 'portraits', '-c', String(OUTSTANDING)];
    const batch = (await stage.run(args)).stdout.trim();
    await until(
      async () => (await stage.truth()).length >= OUTSTANDING,
      'all slots have a request on the wire',
    );
    return batch;
  }

  it('on SIGTERM starts no further one, keeps all answers, and ends with 0; no attempt is unconfirmed', async () => {
    const batch = await underLoad();
    const askedAt = performance.now();
    const { code, stderr } = await worker.kill('SIGTERM');
    expect(code).toBe(0);
    expect(performance.now() - askedAt).toBeLessThan(20_000);
    expect(stderr).toMatch(/stopping; \d+ requests on the wire/);
    expect(await stage.truth()).toHaveLength(OUTSTANDING);
    await start();
    expect((await stage.run(['wait', batch])).code).toBe(0);
    const { requests } = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
    expect(requests).toMatchObject({ sent: ROWS, accepted: ROWS, unconfirmed: 0 });
    expectOneRunPerRow(await stage.truth(), ROWS);
  });

  it('leaves those that have no answer in time unconfirmed, says so, and the next worker resolves them', async () => {
    const batch = await underLoad({ RUNSHEET_DRAIN_SECONDS: '1' });
    const askedAt = performance.now();
    const { code, stderr } = await worker.kill('SIGTERM');
    expect(code).toBe(130);
    expect(performance.now() - askedAt).toBeLessThan(4_000);
    expect(stderr).toMatch(
      /\d+ requests without an answer after 1 s \(RUNSHEET_DRAIN_SECONDS\): unconfirmed/,
    );
    await start();
    expect((await stage.run(['wait', batch])).code).toBe(0);
    expectOneRunPerRow(await stage.truth(), ROWS);
  });

  it('ends immediately at the second signal', async () => {
    await underLoad();
    worker.child.kill('SIGTERM');
    await worker.says(/stopping/);
    const askedAt = performance.now();
    // Two signals in one moment are taken for one.
    const again = setInterval(() => worker.child.kill('SIGTERM'), 200);
    const { code } = await worker.ended.finally(() => clearInterval(again));
    expect(code).toBe(130);
    expect(performance.now() - askedAt).toBeLessThan(2_000);
  });

  it('as a receiver tells a balancer that it is not ready, and answers for some seconds until it ends with 0', async () => {
    const receiver = stage.start(['worker', '--receiver-only'], { RUNSHEET_WEBHOOK_LISTEN: listen });
    await receiver.says(/webhooks at/);
    const status = async (path: string): Promise<number> => (await fetch(`http://${listen}${path}`)).status;
    expect([await status('/readyz'), await status('/healthz')]).toEqual([200, 200]);
    receiver.child.kill('SIGTERM');
    await until(async () => (await status('/readyz')) === 503, 'the balancer sees it');
    const notReadyAt = performance.now();
    expect([await status('/healthz'), await status('/hook/2/nothing')]).toEqual([200, 404]);
    expect((await receiver.ended).code).toBe(0);
    expect(performance.now() - notReadyAt).toBeGreaterThan(4_000);
  });
});
