// A pipeline whose drafts have ended, and from which a worker makes the finals.

import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import pino from 'pino';
import { createStage } from '../../../activities/pipeline-stages.ts';
import {
  callOfStage,
  writePipeline,
  type StageDefinition,
} from '../../../src/batches/pipeline/pipeline-folder.ts';
import { openDownloads } from '../../../src/host/http/download.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { addResults } from '../../batches/earlier.ts';
import { openScene } from '../../batches/files/scene.ts';

export async function openPoster(photos = ['owl']) {
  const { place, make, around } = await openScene();
  place.write('drafts.csv', `photo\n${photos.map((photo) => `https://a.example/${photo}.png\n`).join('')}`);
  const madeFor = callOfStage('poster', 'drafts');
  const drafts = await make('drafts.csv', { more: { name: 'poster-drafts', madeFor } });
  await addResults(drafts);
  const folder = join(place.out, 'poster');
  /** Defines the stages with these inputs and this deadline; `more` adds to the finals. */
  const stages = (
    set: Record<string, string>,
    deadlineAt?: number,
    more: Partial<StageDefinition> = {},
  ): readonly StageDefinition[] => {
    const request = {
      deployment: 'finals',
      service: { base: String(around.config.apiUrl), api: 'v2' as const },
      options: { map: {}, set, drop: [], types: {} },
      settings: { deadlines: {}, webhooks: false, ...(deadlineAt && { deadlineAt }) },
      order: {},
      answers: { guesses: 'accept' as const },
    };
    const defaults = { pick: false, partial: false, each: 'row' as const, reuse: 'again' as const, request };
    return [
      { ...defaults, name: 'drafts' },
      { ...defaults, name: 'finals', from: 'drafts', ...more },
    ];
  };
  const mark = '0123456789abcdef';
  const record = (written: readonly StageDefinition[]) =>
    writePipeline(openStore(folder), { pipeline: 'poster', mark, createdAt: '', stages: written });
  const maker = {
    config: around.config,
    download: openDownloads(1),
    isEmbedded: true,
    isEncrypted: false,
    searchAttributes: async () => [],
    servers: await around.servers(),
  };
  /** The worker makes the finals, of the pipeline with this mark. */
  const work = (ofMark = mark) =>
    new MockActivityEnvironment().run(() =>
      createStage(
        { log: pino({ enabled: false }), maker },
        { pipeline: 'poster', mark: ofMark, folder, stage: 'finals' },
      ),
    );
  return { place, config: around.config, drafts, stages, record, work };
}
