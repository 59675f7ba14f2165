import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createStage } from '../../../activities/pipeline-stages.ts';
import {
  callOfStage,
  writePipeline,
  type StageDefinition,
} from '../../../src/create-batch/pipeline/pipeline-file.ts';
import { madeStages } from '../../../src/library/pipeline/started-pipeline.ts';
import { openDownloads } from '../../../src/run-service/download.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { addResults } from '../../create-batch/earlier.ts';
import { openScene } from '../../create-batch/files/scene.ts';

const MARK = '0123456789abcdef';

/** Drafts that have ended, from which a worker makes the finals. */
async function finalsOf() {
  const { place, make, around } = await openScene();
  place.write('drafts.csv', 'photo\nhttps://a.example/owl.png\n');
  const madeFor = callOfStage('poster', 'drafts');
  await addResults(await make('drafts.csv', { more: { name: 'poster-drafts', madeFor } }));
  const folder = join(place.out, 'poster');
  const stages = (set: Record<string, string>, deadlineAt?: number): readonly StageDefinition[] => {
    const request = {
      deployment: 'finals',
      service: { base: String(around.config.apiUrl), api: 'v2' as const },
      options: { map: {}, set, drop: [], types: {} },
      settings: { deadlines: {}, webhooks: false, ...(deadlineAt && { deadlineAt }) },
      order: {},
      answers: { guesses: 'accept' as const },
    };
    const all = { pick: false, partial: false, each: 'row' as const, reuse: 'again' as const, request };
    return [
      { ...all, name: 'drafts' },
      { ...all, name: 'finals', from: 'drafts' },
    ];
  };
  const record = (written: readonly StageDefinition[]) =>
    writePipeline(openStore(folder), { pipeline: 'poster', mark: MARK, createdAt: '', stages: written });
  const deps = {
    log: pino({ enabled: false }),
    maker: {
      config: around.config,
      download: openDownloads(1),
      isEmbedded: true,
      isEncrypted: false,
      searchAttributes: async () => [],
      servers: await around.servers(),
    },
  };
  const work = (mark = MARK) =>
    new MockActivityEnvironment().run(() =>
      createStage(deps, { pipeline: 'poster', mark, folder, stage: 'finals' }),
    );
  const found = (asked: readonly StageDefinition[]) =>
    madeStages({ config: around.config } as never, { pipeline: 'poster', stages: asked });
  return { stages, record, work, found };
}

it('a stage that a worker made of the job before it was changed is refused with what differs', async () => {
  const { stages, record, work, found } = await finalsOf();
  const [before, after] = [stages({ prompt: 'a fox' }), stages({ prompt: 'an owl' })];
  await record(before);
  await work();
  const [drafts] = before;
  const changed = [drafts as StageDefinition, ...after.slice(1)];
  await record(changed);
  await expect(found(changed)).rejects.toMatchObject({
    code: 'E566',
    message: expect.stringContaining('set.prompt "a fox" → "an owl"') as string,
  });
  await expect(found(before)).resolves.toMatchObject({ made: { size: 2 } });
});

it('a stage that has ended lets later ones have another deadline, and one that passed waits for another', async () => {
  const { stages, record, found } = await finalsOf();
  const [past, future] = [Date.now() - 1_000, Date.now() + 3_600_000];
  await record(stages({}, past));
  await expect(found(stages({}, past))).resolves.toMatchObject({ made: { size: 1 } });
  await expect(found(stages({}, future))).resolves.toMatchObject({ made: { size: 1 } });
  await expect(found(stages({}, past - 1))).rejects.toMatchObject({
    code: 'E602',
    message: expect.stringContaining('has passed') as string,
  });
});

it('an earlier pipeline of this name makes nothing in its folder', async () => {
  const { stages, record, work, found } = await finalsOf();
  await record(stages({}));
  await expect(work('fedcba9876543210')).rejects.toMatchObject({
    nonRetryable: true,
    message: expect.stringContaining('another pipeline of this name') as string,
  });
  await expect(found(stages({}))).resolves.toMatchObject({ made: { size: 1 } });
});
