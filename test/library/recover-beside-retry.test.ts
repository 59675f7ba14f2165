import { expect, it } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { resumeBatch } from '../../src/library/handle/resumed-batch.ts';
import type { Servers } from '../../src/library/servers.ts';
import { holderHere } from '../../src/store/holder.ts';
import { announceRebuild, readStarted, STARTED_FILE, takeBack } from '../../src/store/started.ts';
import { continuedName, createPass, newestPass, type PassFile, passName } from '../../src/store/passes.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { Console } from '../console/console.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';

type Store = Awaited<ReturnType<Console['batch']>>['store'];

/** Rebuilds a batch without a workflow whose quiet period is over; `meanwhile` happens after its parts were read, or once it is announced. */
async function rebuildBeside(
  meanwhile: (store: Store) => Promise<void>,
  when: 'read' | 'announced' = 'read',
) {
  const console = await Console.open();
  const batch = await console.batch(console.write('sheet.csv', 'prompt\na fox\n'), 'one');
  const holder = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });
  await announceRebuild(batch.store, {
    id: 'before',
    at: { now: 0, serviceNow: undefined },
    holder,
    afresh: false,
  });
  const { store } = batch;
  const isRunning = async (): Promise<boolean> => {
    if (when === 'read') await meanwhile(store);
    return false;
  };
  const update: Store['update'] = async (name, next) => {
    await store.update(name, next);
    if (when === 'announced' && name === STARTED_FILE) await meanwhile(store);
  };
  const batchFolder = { ...batch, store: { ...store, update } };
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
  const options = { limits: {}, onRebuilt: () => undefined, how: {} };
  return { store, recovering: resumeBatch(servers as unknown as Servers, batchFolder, options) };
}

const passOf = (kind: PassFile['kind']): PassFile => ({ at: new Date().toISOString(), kind, segments: [] });

it.each([
  ['retry', /another command has added rows to it, or sends some again; repeat the same command/],
  ['recover', /another command is rebuilding it/],
] as const)('a rebuild that meets a pass of another command names it: %s', async (kind, reason) => {
  const { recovering } = await rebuildBeside(async (store) => {
    await createPass(store, (await newestPass(store)) + 1, passOf(kind));
  });
  await expect(recovering).rejects.toMatchObject({
    code: 'E511',
    message: expect.stringMatching(reason) as string,
  });
});

it('a rebuild whose batch ends meanwhile with a later pass leaves that end to the next pass', async () => {
  const { store, recovering } = await rebuildBeside(async (folder) => {
    await createPass(folder, 2, passOf('retry'));
    await folder.write(SUMMARY_FILE, summaryOfPass(2));
  });
  await expect(recovering).rejects.toMatchObject({ code: 'E511' });
  expect(await store.exists(passName(2))).toBe(true);
  expect(await store.exists(continuedName(2))).toBe(false);
});

it.each([
  [
    'a `resume` where the batch ran',
    async (store: Store) => void (await takeBack(store, { workflowId: '', runId: '' })),
  ],
  [
    'another rebuild',
    async (store: Store) => {
      const { holder } = (await readStarted(store))?.rebuilding ?? {};
      if (holder !== undefined)
        await announceRebuild(store, { id: 'other', at: { now: 0 }, holder, afresh: false });
    },
  ],
])('a rebuild overtaken by %s adds no pass and leaves the end to the next pass', async (_, overtake) => {
  const { store, recovering } = await rebuildBeside(async (folder) => {
    await overtake(folder);
    await folder.write(SUMMARY_FILE, summaryOfPass(1));
  }, 'announced');
  await expect(recovering).rejects.toMatchObject({ code: 'E511' });
  expect(await store.exists(passName(2))).toBe(false);
  expect(await store.exists(continuedName(1))).toBe(false);
});
