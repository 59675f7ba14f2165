// A pipeline as JSON.

import { z } from 'zod';
import type { PipelineFolder } from '../../batches/pipeline/pipeline-folder.ts';
import type { StageStatus } from '../../library/pipeline/pipeline-status.ts';
import { jobCommand } from '../pipeline/pipeline-text.ts';
import { count, shaped } from './shape.ts';

export const pipelineSchema = z.object({
  pipeline: z.string(),
  folder: z.string(),
  command: z.string().nullable().describe('gives the job again, for example once its file is corrected'),
  stages: z.array(
    z.object({
      stage: z.string(),
      from: z.string().nullable().describe('the stage whose results are its sheet'),
      state: z.string().describe('that of its batch; before it has one: waiting, starting or failed'),
      waits_for: z.enum(['source', 'repair', 'picks']).nullable(),
      batch: z.string().nullable().describe('null as long as it has none'),
      rows: count.nullable(),
      succeeded: count.nullable(),
      cost_usd: z.number().nullable().describe('once it has ended'),
      reason: z.string().nullable().describe('why it does not advance'),
      help: z.string().nullable().describe('the command that helps'),
    }),
  ),
});

export const pipelineJson = (
  opened: PipelineFolder,
  stages: readonly StageStatus[],
): z.infer<typeof pipelineSchema> =>
  shaped(pipelineSchema, {
    pipeline: opened.file.pipeline,
    folder: opened.folder,
    command: jobCommand(opened) ?? null,
    stages: stages.map((stage) => ({
      stage: stage.stage,
      from: stage.from ?? null,
      state: stage.state,
      waits_for: stage.waitsFor ?? null,
      batch: stage.batchFolder?.batch ?? null,
      rows: stage.status?.rows ?? null,
      succeeded: stage.status?.outcomes.succeeded ?? null,
      cost_usd: stage.status?.summary?.total_cost_usd ?? null,
      reason: stage.reason || null,
      help: stage.help || null,
    })),
  });
