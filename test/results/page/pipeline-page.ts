// The page of a pipeline whose stages are in several states, without running it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pipelinePage, type PipelineStage } from '../../../src/results/page/pipeline-page.ts';

export const HOSTILE = `<img src=x onerror="document.title=1"></script> \u001B[31m\u202E ${'long'.repeat(250)}`;

const STAGE = { deployment: 'portraits', reason: '', help: '', batch: undefined, rows: undefined } as const;

/** Returns its address. `words`: what a stage, its deployment and its reason are called. */
export async function writePipelinePage(folder: string, words: string): Promise<string> {
  const stages: readonly PipelineStage[] = [
    {
      ...STAGE,
      name: 'drafts',
      state: 'finished',
      batch: 'poster-drafts',
      rows: 1_200,
      outcomes: { succeeded: 1_180, failed: 20, 'timed-out': 0, cancelled: 0, refused: 0, unknown: 0 },
      costUsd: 3.2,
    },
    {
      ...STAGE,
      name: words,
      deployment: words,
      state: 'failed',
      reason: words,
      help: `runsheet retry ${words}`,
      batch: words,
      outcomes: undefined,
      costUsd: undefined,
    },
    { ...STAGE, name: 'prints', state: 'waiting', outcomes: undefined, costUsd: undefined },
  ];
  const path = join(folder, 'index.html');
  writeFileSync(path, (await pipelinePage(words, stages, undefined)) ?? '');
  return pathToFileURL(path).href;
}
