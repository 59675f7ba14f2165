// Turns the stages of a job file into requests, through the flags that they would be as commands.

import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { hintAmong, problem } from '../../errors/error.ts';
import { isAddress } from '../../errors/redact.ts';
import { circleIn } from '../../batch/pipeline/stages.ts';
import { HAS_PASSED, isSpan, readMoment } from '../../options/moment.ts';
import { msOf } from '../../options/read.ts';
import type { Servers } from '../../library/servers.ts';
import { exactMoney } from '../../options/text/printed-numbers.ts';
import { durationFrom } from '../../library/start/program-rows.ts';
import type { ProposalSource } from '../../batches/propose.ts';
import { pipelineNameOf, sheetHash, type StageDefinition } from '../../library/pipeline/started-pipeline.ts';
import { aliasesOf, LETTERS } from '../command.ts';
import type { Context } from '../context.ts';
import { checkFlags, configOf, NO_SHEET, requestOf } from '../flags/batch-options.ts';
import { withOwnGpus } from '../flags/gpu-flags.ts';
import { fromFlags, sheetFlags, type SheetFlags } from '../flags/flags.ts';
import { readJob, type SheetJob, type JobStage, type WrittenFlags } from '../job/job-file.ts';
import { flagsIn, flagsOver, withoutFlags, wordsOf } from '../job/job-words.ts';
import { parsedFlags } from '../job/parsed-flags.ts';
import { sourceOf } from '../run/from.ts';

export type AskedStage = {
  readonly definition: StageDefinition;
  readonly flags: SheetFlags;
  /** Set for a stage with its own sheet. */
  readonly rows: (() => Promise<ProposalSource>) | undefined;
};

export type AskedJob = {
  readonly pipeline: string;
  readonly command: readonly string[];
  readonly stages: readonly AskedStage[];
};

/** Command-line flags that apply to a whole pipeline. */
const OF_ALL: ReadonlySet<string> = new Set(
  ['out', 'service', 'api', 'local', 'name', 'again', 'reuse', 'guess', 'yes', 'quiet', 'output'].map(
    (flag) => `--${flag}`,
  ),
);

/**
 * The flags of the whole pipeline: those of the command, and those above the stages of the file. A deadline
 * there applies to each stage.
 */
export const pipelineFlags = (context: Context, path: string): Promise<SheetFlags> => {
  const flags = flagsOver(givenBeside(context, path), withoutFlags(readJob(path).flags, '--deadline'));
  return parsedFlags(context, PARAMETERS, wordsOf(flags), path);
};

const givenBeside = ({ args = [] }: Context, path: string): WrittenFlags =>
  flagsIn(
    args.slice(1).filter((word) => word !== path),
    LETTERS,
  );

/**
 * `pipelineWide`: the flags of the whole pipeline. `keeps`: whether own GPUs are kept for its runs. Throws
 * E602 for stages that can never run, and for a flag that belongs into the file.
 */
export async function askedJob(
  context: Context,
  servers: Servers,
  path: string,
  pipelineWide: SheetFlags,
  keeps = true,
): Promise<AskedJob> {
  const job = readJob(path);
  const { stages = [] } = job;
  refuseOrder(job, stages);
  const commandFlags = givenBeside(context, path);
  refuseOther(commandFlags);
  const askedStages: AskedStage[] = [];
  for (const stage of stages)
    askedStages.push(await askedStage(context, servers, { job, stage, commandFlags, keeps }));
  const { maxCost } = pipelineWide as { readonly maxCost?: unknown };
  refuseCost(job, askedStages, typeof maxCost === 'number' ? maxCost : undefined);
  const sheets = askedStages.flatMap(({ definition: { sheet } }) => (sheet === undefined ? [] : [sheet]));
  const pipeline = pipelineWide.name ?? pipelineNameOf(job.name, sheets);
  // A later command continues the pipeline, so the place of the batches and the output format are not recorded.
  const lasting = withoutFlags(commandFlags, '--out', '--output', '--quiet', '--yes');
  return { pipeline, stages: askedStages, command: [resolve(path), ...wordsOf(lasting)] };
}

const FLAGS = { ...sheetFlags, ...fromFlags };
const PARAMETERS = { flags: FLAGS, aliases: aliasesOf(FLAGS) } as never;

function refuseOther(commandFlags: WrittenFlags): void {
  const flag = [...commandFlags.keys()].find((name) => !OF_ALL.has(name));
  if (flag !== undefined)
    throw problem('E602', {
      what: `${flag} is about one batch, and the job has stages`,
      hint: 'write it into the job file: into its stage, or above all stages',
    });
}

function refuseOrder({ path }: SheetJob, stages: readonly JobStage[]): void {
  const names = new Set(stages.map(({ name }) => name));
  for (const { name, from, pick } of stages) {
    const place = `${path} [[stage]] ${name}`;
    const isStage = from !== undefined && names.has(from);
    if (from !== undefined && !isStage && !isAddress(from) && !existsSync(from)) {
      const what = `from in ${place} names neither a stage nor a sheet: ${from}`;
      throw problem('E602', { what, hint: hintAmong(basename(from), 'stages', [...names]) });
    }
    if (pick && !isStage)
      throw problem('E602', {
        what: `pick in ${place} has nothing to pick from`,
        hint: 'a stage that takes picks is from another stage: from = "drafts"',
      });
  }
  const circle = circleIn(
    stages.map(({ name, from }) => ({ name, ...(from !== undefined && names.has(from) && { from }) })),
  );
  if (circle.length > 0)
    throw problem('E602', {
      what: `stages of ${path} wait for each other: ${[...circle, circle[0]].join(' ← ')}`,
      hint: 'the first stage takes a sheet: from = "prompts.csv"',
    });
}

/** Each stage needs its own limit, so that no order of stages can spend more. */
function refuseCost({ path }: SheetJob, stages: readonly AskedStage[], most: number | undefined): void {
  if (most === undefined) return;
  const limits = stages.map(({ definition }) => definition.request.settings.maxCostNano);
  const without = stages.find((_, at) => limits[at] === undefined);
  if (without !== undefined)
    throw problem('E602', {
      what: `${path} has max_cost, and its stage ${without.definition.name} has none`,
      hint: 'give each stage a max_cost of its own; together they may not exceed that of the job',
    });
  const sum = limits.reduce<number>((total, cost) => total + (cost ?? 0), 0);
  if (sum > most)
    throw problem('E602', {
      what: `the stages of ${path} may cost ${exactMoney(sum)} together, more than its max_cost of ${exactMoney(most)}`,
      hint: 'lower max_cost of a stage, or raise that of the job',
    });
}

type StageRequest = {
  readonly job: SheetJob;
  readonly stage: JobStage;
  readonly commandFlags: WrittenFlags;
  readonly keeps: boolean;
};

async function askedStage(
  context: Context,
  servers: Servers,
  { job, stage, commandFlags, keeps }: StageRequest,
): Promise<AskedStage> {
  const { name, from, pick, partial } = stage;
  const isStage = job.stages?.some((sibling) => sibling.name === from) ?? false;
  // Precedence: command flags, then the stage's flags, then those above all stages.
  const inFile = flagsOver(stage.flags, withoutFlags(job.flags, '--max-cost', '--name'));
  const deadline = String(inFile.get('--deadline') ?? '');
  const moment = readMoment(deadline, msOf);
  // The deadline of a stage that was made, or that waits, may be in the past.
  const hasPassed = typeof moment === 'object' && moment.wrong === HAS_PASSED;
  const stageFlags = await parsedFlags<SheetFlags>(
    context,
    PARAMETERS,
    wordsOf(
      flagsOver(
        withoutFlags(commandFlags, '--name'),
        hasPassed ? withoutFlags(inFile, '--deadline') : inFile,
      ),
    ),
    `${job.path} [[stage]] ${name}`,
  );
  const sheet = isStage ? undefined : (from ?? NO_SHEET);
  await checkStage(job, stage, sheet, stageFlags);
  const flags = await withOwnGpus(servers, stageFlags, keeps);
  const config = configOf(flags);
  const { again: _again, name: _name, ...request } = requestOf(config, flags);
  const { deadlineAt = Date.parse(deadline), ...settings } = request.settings;
  const deadlineMs = isSpan(deadline) ? durationFrom('deadline', deadline) : undefined;
  const rows =
    sheet === undefined
      ? undefined
      : () =>
          sourceOf(
            config,
            { process: context.process, job: resolve(job.path) },
            { ...flags, from: undefined } as never,
            sheet,
          );
  const hash = await hashOf(servers, rows, request.options.grid);
  const definition = {
    name,
    ...(isStage && from !== undefined ? { from } : {}),
    ...(hash === undefined ? {} : { sheet: hash }),
    pick,
    partial,
    each: flags.each ?? 'row',
    reuse: flags.again ? ('again' as const) : flags.reuse ? ('reuse' as const) : ('refuse' as const),
    request: {
      ...request,
      settings: { ...settings, ...(deadline !== '' && deadlineMs === undefined && { deadlineAt }) },
    },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
  return { definition, flags, rows };
}

async function hashOf(
  servers: Servers,
  rows: AskedStage['rows'],
  grid: unknown,
): Promise<string | undefined> {
  const source = await rows?.();
  if (source === undefined || !('path' in source)) return undefined;
  return source.path === '-' ? JSON.stringify(grid ?? {}) : sheetHash(servers, source);
}

async function checkStage(
  { path }: SheetJob,
  { name }: JobStage,
  sheet: string | undefined,
  flags: SheetFlags,
): Promise<void> {
  if (flags.deployment === undefined && flags.workflow === undefined)
    throw problem('E602', {
      what: `stage ${name} of ${path} has no deployment`,
      hint: `add deployment = "…" to it; list them: runsheet deployments${flags.local ? ' --local' : ''}`,
    });
  await checkFlags(sheet ?? NO_SHEET, flags);
}
