import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { expect, it } from 'vitest';
import { createStage } from '../../../activities/pipeline-stages.ts';
import {
  callOfStage,
  openPipeline,
  writePipeline,
  type PipelineFolder,
} from '../../../src/create-batch/pipeline/pipeline-file.ts';
import { stageStates } from '../../../src/create-batch/pipeline/stage-states.ts';
import { givePicks } from '../../../src/library/pipeline/picks.ts';
import { openDownloads } from '../../../src/run-service/download.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { addResults } from '../../create-batch/earlier.ts';
import { openScene, picture } from '../../create-batch/files/scene.ts';

const STAGE = { pick: false, partial: false, each: 'row', reuse: 'again' } as const;

it('picks of a stage name files beside them, and others replace them until the stage has a batch', async () => {
  const { place, make, around } = await openScene();
  place.write('drafts.csv', 'photo\nhttps://a.example/owl.png\n');
  const madeFor = callOfStage('poster', 'drafts');
  const drafts = await make('drafts.csv', { more: { name: 'poster-drafts', madeFor } });
  await addResults(drafts);
  const request = {
    deployment: 'finals',
    service: { base: String(around.config.apiUrl), api: 'v2' as const },
    options: { map: {}, set: {}, drop: [], types: {} },
    settings: { deadlines: {}, webhooks: false },
    order: {},
    answers: { guesses: 'accept' as const },
  };
  const folder = join(place.out, 'poster');
  await writePipeline(openStore(folder), {
    pipeline: 'poster',
    mark: '0123456789abcdef',
    createdAt: new Date().toISOString(),
    stages: [
      { ...STAGE, name: 'drafts', request },
      { ...STAGE, name: 'finals', from: 'drafts', pick: true, request, deadlineMs: 28_800_000 },
    ],
  });
  const opened = async () => (await openPipeline(place.out, 'poster')) as PipelineFolder;
  const given = async (path: string) => givePicks(around.config, await opened(), 'finals', { path });
  const pick = async (path: string) => (await given(path)).rows;
  const maker = {
    config: around.config,
    download: openDownloads(1),
    isEmbedded: true,
    isEncrypted: false,
    searchAttributes: async () => [],
    servers: await around.servers(),
  };
  const made = () =>
    new MockActivityEnvironment().run(() =>
      createStage({ log: pino({ enabled: false }), maker }, { pipeline: 'poster', folder, stage: 'finals' }),
    );

  expect(await pick(place.write('chosen/wrong.csv', 'row,photo\n1,none.png\n'))).toBe(1);
  await expect(made()).rejects.toThrow('E210');

  place.write('chosen/fox.png', picture(1));
  const right = place.write('chosen/right.csv', 'row,photo\n1,fox.png\n');
  const same = await given(right);
  const late = place.write('chosen/late.csv', 'row,photo\n1,https://a.example/cat.png\n');
  const other = await given(late);
  expect(await pick(right)).toBe(1);
  const madeAt = Date.now();
  expect(await made()).toMatchObject({ batch: 'poster-finals', rows: 1 });

  // The batch was made of other picks than those of a command that was as fast.
  const [, state] = await stageStates(place.out, await opened());
  const finals = [{ stage: 'finals', found: state?.found }];
  expect(() => other.refuseOther(finals)).toThrow('has its picks already');
  same.refuseOther(finals);
  expect((state?.found?.file.deadlineAt ?? 0) - madeAt).toBeGreaterThan(28_790_000);

  expect(await pick(right)).toBe(1);
  await expect(pick(late)).rejects.toMatchObject({ code: 'E602' });
});
