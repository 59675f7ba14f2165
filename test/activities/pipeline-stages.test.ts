// The activities of a pipeline whose folder is gone.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { awaitStage, createStage, showPipeline } from '../../activities/pipeline-stages.ts';
import { PAGE } from '../../src/batches/pipeline/pipeline-folder.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openPoster } from '../library/pipeline/poster.ts';
import type { Deps } from '../../activities/deps.ts';

type Making = Pick<Deps, 'log' | 'maker'>;

describe('a pipeline', () => {
  let deps: Making;
  let ref: { readonly pipeline: string; readonly folder: string; readonly mark: string };
  beforeEach(async () => {
    const { place, config, stages, record } = await openPoster();
    await record(stages({}));
    ref = { pipeline: 'poster', folder: join(place.out, 'poster'), mark: '0123456789abcdef' };
    deps = { log: pino({ level: 'silent' }), maker: { config } as unknown as Deps['maker'] };
  });

  const within = (work: () => Promise<unknown>, attempt = 1): Promise<unknown> =>
    new MockActivityEnvironment({ attempt }).run(work);
  const GONE = {
    type: 'E504',
    nonRetryable: true,
    message: expect.stringContaining('there is no pipeline.json'),
  };

  it('whose folder was removed ends with this reason, and shows nothing more', async () => {
    rmSync(ref.folder, { recursive: true });
    const stage = 'finals';
    await expect(within(() => awaitStage(deps, { ...ref, stage }))).rejects.toMatchObject(GONE);
    await expect(within(() => createStage(deps, { ...ref, stage }))).rejects.toMatchObject(GONE);
    const failed = { stage, message: 'there is no pipeline.json' };
    expect(await within(() => showPipeline(deps, { ...ref, failed }))).toBeUndefined();
  });

  it('whose file is damaged ends with this reason', async () => {
    rmSync(join(ref.folder, 'pipeline.json'));
    mkdirSync(ref.folder, { recursive: true });
    await openStore(ref.folder).write('pipeline.json', '{');
    const looks = within(() => awaitStage(deps, { ...ref, stage: 'finals' }));
    await expect(looks).rejects.toMatchObject({ type: 'E504', nonRetryable: true });
  });

  it('whose page cannot be written for some minutes goes on without it', async () => {
    mkdirSync(join(ref.folder, PAGE));
    const shows = (attempt: number) => within(() => showPipeline(deps, ref), attempt);
    await expect(shows(1)).rejects.toThrow('EISDIR');
    expect(await shows(12)).toBeUndefined();
  });
});
