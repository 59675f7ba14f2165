import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startLocalService, DEMO_DEPLOYMENTS } from '../../src/run-service/server.ts';
import { asking, present, TOKEN } from './asking.ts';
import { mostAtOnce } from './at-once.ts';
import { openReceiver, type Received } from './receiver.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { startProcess, type Process } from './service-process.ts';

const temporaryFile = (): string => join(freshFolder(), 'service.db');

async function listed({ ask, deploymentId }: Process): Promise<string[]> {
  const { json } = await ask('GET', `/api/deployment/${deploymentId}/runs?limit=10000`);
  return (json['data'] as { id: string }[]).map((run) => run.id);
}

const of = (received: readonly Received[], id: string, status: string): number =>
  received.filter(({ body }) => body['run_id'] === id && body['status'] === status).length;

const CHANGES = ['queued', 'started', 'running', 'success'];
const told = (received: readonly Received[], id: string, statuses: readonly string[]): boolean =>
  statuses.every((status) => of(received, id, status) > 0);

describe('kill -9', () => {
  it('loses no run that was accepted', async () => {
    const database = temporaryFile();
    const deployment = { name: 'd', concurrencyLimit: 5, runSeconds: 100 };
    const first = await startProcess(database, deployment);
    const accepted: string[] = [];
    const sending = Array.from({ length: 8 }, async () => {
      for (;;) accepted.push(await first.queue());
    });
    const ends = Promise.allSettled(sending);
    while (accepted.length < 300) await first.ask('GET', '/api/platform/profile');
    await first.kill();
    await ends;
    const second = await startProcess(database, deployment);
    const kept = await listed(second);
    expect(kept).toEqual(expect.arrayContaining(accepted));
    expect(new Set(kept).size).toBe(kept.length);
    expect(kept.length, 'at most one unanswered run for each sender').toBeLessThanOrEqual(
      accepted.length + 8,
    );
  });

  it('executes no run twice: active runs end as planned, and queued ones follow in order', async () => {
    const database = temporaryFile();
    const deployment = { name: 'd', concurrencyLimit: 2, coldStartSeconds: 5, runSeconds: 40 };
    const receiver = await openReceiver();
    const first = await startProcess(database, deployment);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await first.queue({ webhook: receiver.url, inputs: { number: i } }));
    const [firstId = '', two = ''] = ids;
    await receiver.until((webhooks) =>
      [firstId, two].every((id) => told(webhooks, id, ['queued', 'started', 'running'])),
    );
    const before = [await first.run(firstId), await first.run(two)];
    await first.kill();

    const second = await startProcess(database, deployment);
    const after = await Promise.all(ids.map((id) => second.ended(id)));
    expect(after.map((run) => run.status)).toEqual(ids.map(() => 'success'));
    expect(await listed(second)).toEqual(ids.toReversed());
    for (const [index, was] of before.entries()) {
      const is = after[index];
      expect([is?.queuedAtMs, is?.startedAtMs]).toEqual([was.queuedAtMs, was.startedAtMs]);
      expect(is?.runSeconds).toBe(0.4);
    }
    const taken = after.slice(2).map((run) => Number(run.queuedAtMs));
    expect(taken).toEqual(taken.toSorted((a, b) => a - b));
    expect(mostAtOnce(after)).toBe(2);
    const received = await receiver.until((webhooks) => ids.every((id) => told(webhooks, id, CHANGES)));
    for (const id of ids) {
      expect(
        CHANGES.map((status) => of(received, id, status)),
        'each change once',
      ).toEqual([1, 1, 1, 1]);
    }
  });

  it('does not lengthen a run, however long the service is down', async () => {
    const database = temporaryFile();
    const deployment = { name: 'd', coldStartSeconds: 0, runSeconds: 20 };
    const first = await startProcess(database, deployment);
    const id = await first.queue();
    const { startedAtMs = 0 } = await first.until(id, (run) => run.status === 'running');
    await first.kill();
    while (Date.now() < startedAtMs + 300) await new Promise((resolve) => setImmediate(resolve));
    const second = await startProcess(database, deployment);
    const run = await second.ended(id);
    expect(run).toMatchObject({ status: 'success', runSeconds: 0.2 });
    expect((await second.wire(id))['updated_at'], 'it was written later').not.toBe(
      (await second.wire(id))['ended_at'],
    );
  });
});

const options = { port: 0, tokens: [TOKEN], speed: 1, deployments: DEMO_DEPLOYMENTS, faults: {}, seed: 1 };

describe('a database', () => {
  it('is used by one service at a time', async () => {
    const database = temporaryFile();
    const first = await startLocalService({ ...options, database });
    await expect(startLocalService({ ...options, database })).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining('locked'),
    });
    await first.close();
    await (await startLocalService({ ...options, database })).close();
  });

  it('keeps runs of a removed deployment, which wait until it exists again', async () => {
    const database = temporaryFile();
    const [portraits, anything] = [present(DEMO_DEPLOYMENTS[0]), present(DEMO_DEPLOYMENTS[1])];
    const first = await startLocalService({ ...options, database, speed: 10 });
    const client = asking(first.url, anything.id);
    const ids = await Promise.all([client.queue(), client.queue(), client.queue()]);
    await first.close();
    const without = await startLocalService({ ...options, database, deployments: [portraits] });
    const waiting = asking(without.url, anything.id);
    const runs = await Promise.all(ids.map((id) => waiting.run(id)));
    expect(runs.map((run) => run.status).filter((status) => status === 'not-started')).toHaveLength(1);
    await without.close();
    const again = await startLocalService({ ...options, database, speed: 100 });
    onTestFinished(() => again.close());
    const last = asking(again.url, anything.id);
    const third = runs.find((run) => run.status === 'not-started');
    expect(await last.until(third?.id ?? '', (run) => run.status !== 'not-started')).toMatchObject({
      gpu: 'A10G',
    });
  });
});

it('close leaves nothing that keeps the process running', async () => {
  const database = temporaryFile();
  const service = await startLocalService({ ...options, database });
  const { queue } = asking(service.url, DEMO_DEPLOYMENTS[0]?.id ?? '');
  await queue({ webhook: 'http://127.0.0.1:1/' });
  await service.close();
  await service.close();
  await expect(fetch(`${service.url}/api/platform/gpu-pricing`)).rejects.toThrow('fetch failed');
});
