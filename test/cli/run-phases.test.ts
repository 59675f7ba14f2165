import { expect, it } from 'vitest';
import { phaseReader } from '../../src/cli/follow/run-phases.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { webhookUrl } from '../../src/webhook/webhook-token.ts';

const FILE = { batch: 'portraits-1', mark: '0123456789abcdef' };

const run = (place: number, status: string, batch = FILE.batch): Run =>
  ({
    id: `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`,
    status,
    webhook: webhookUrl({ ...FILE, batch, place, attempt: 1 }, 'secret', undefined),
  }) as Run;

const settled = (): Promise<void> => new Promise((done) => void setImmediate(done));

it('counts the open runs of the batch, and no others', async () => {
  const runs = [
    run(1, 'not-started'),
    run(2, 'queued'),
    run(3, 'running'),
    run(4, 'uploading'),
    run(5, 'success'),
  ];
  const reader = phaseReader(FILE, async () => [...runs, run(6, 'running', 'another')]);
  expect(reader.latest(4, 0)).toBeUndefined();
  await settled();
  expect(reader.latest(4, 250)).toEqual({ queued: 1, starting: 1, running: 2 });
});

it('reads the list every 3 s at most, and not at all while no run is outstanding', async () => {
  let readings = 0;
  const reader = phaseReader(FILE, async () => {
    readings += 1;
    return [];
  });
  for (const now of [0, 1_000, 2_000, 3_000]) {
    reader.latest(1, now);
    await settled();
  }
  reader.latest(0, 9_000);
  await settled();
  expect(readings).toBe(2);
});

it('forgets a reading that is old', async () => {
  const reader = phaseReader(FILE, async () => [run(1, 'running')]);
  reader.latest(1, 0);
  await settled();
  expect(reader.latest(1, 8_000)).toBeDefined();
  expect(reader.latest(1, 8_001)).toBeUndefined();
});

it('shows no phases of a reading with more runs than are outstanding', async () => {
  const reader = phaseReader(FILE, async () => [run(1, 'running'), run(2, 'queued')]);
  reader.latest(2, 0);
  await settled();
  expect(reader.latest(1, 250)).toBeUndefined();
  expect(reader.latest(0, 500)).toBeUndefined();
});

it('shows nothing if the service has no list or refuses the key', async () => {
  const without = phaseReader(FILE, async () => undefined);
  const refused = phaseReader(FILE, () => Promise.reject(new Error('401')));
  for (const reader of [without, refused]) {
    reader.latest(1, 0);
    await settled();
    expect(reader.latest(1, 250)).toBeUndefined();
  }
});
