import { expect, it } from 'vitest';
import { loadConfig } from '../../src/host/config.ts';
import { resumeBatch } from '../../src/library/handle/resumed-batch.ts';
import type { Servers } from '../../src/library/servers.ts';
import { holderHere } from '../../src/store/holder.ts';
import { announceRebuild } from '../../src/store/started.ts';
import { createPass, newestPass, type PassFile } from '../../src/store/passes.ts';
import { Console } from '../console/console.ts';

it.each([
  ['retry', /another command has added rows to it, or sends some again; repeat the same command/],
  ['recover', /another command is rebuilding it/],
] as const)('a rebuild that meets a pass of another command names it: %s', async (kind, reason) => {
  const console = await Console.open();
  const batch = await console.batch(console.write('sheet.csv', 'prompt\na fox\n'), 'one');
  // The quiet period is over.
  const holder = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });
  await announceRebuild(batch.store, {
    id: 'before',
    at: { now: 0, serviceNow: undefined },
    holder,
    afresh: false,
  });
  const at = new Date().toISOString();
  const other: PassFile = { at, kind, segments: [] };
  // No command has the batch.
  const isRunning = async (): Promise<boolean> => {
    await createPass(batch.store, (await newestPass(batch.store)) + 1, other);
    return false;
  };
  const session = { batches: { isRunning }, holder };
  const config = loadConfig();
  const servers = {
    config,
    here: { config, holder },
    isCluster: true,
    check: async () => undefined,
    refuseElsewhere: async () => undefined,
    for: async () => session,
  };
  const asked = { limits: {}, onRebuilt: () => undefined, how: {} };
  const recovering = resumeBatch(servers as unknown as Servers, batch, asked);
  await expect(recovering).rejects.toMatchObject({
    code: 'E511',
    message: expect.stringMatching(reason) as string,
  });
});
