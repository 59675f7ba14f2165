// run, submit and plan for a job file with stages.

import { EXIT, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { refusal } from '../../batches/question-texts.ts';
import { type Policy } from '../../batches/settle.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { checkStages, type SourceBatch } from '../../library/pipeline/checked-stages.ts';
import { planBatch } from '../../library/start/batch-plan.ts';
import { makeBatch } from '../../library/start/start-batch.ts';
import {
  isLocal,
  madeStages,
  recordPipeline,
  refuseOther,
  requestOfStage,
  startPipeline,
  withdrawPipeline,
  type AskedPipeline,
  type StageDefinition,
} from '../../library/pipeline/started-pipeline.ts';
import type { PipelineFolder } from '../../batches/pipeline/pipeline-folder.ts';
import { pipelineStatus } from '../../library/pipeline/pipeline-status.ts';
import type { Servers } from '../../library/servers.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { sameCommand } from '../next-command.ts';
import { printBatch } from '../run/plan-text.ts';
import { forecastLines } from '../run/forecast.ts';
import { shownWith } from '../run/run-new-batch.ts';
import { fromNotes } from '../run/from.ts';
import { policyOf } from '../run/answer-policy.ts';
import { serversFor } from '../command-session.ts';
import { followPipeline } from './pipeline.ts';
import { pipelineJson } from '../json/pipeline-json.ts';
import { askedJob, pipelineFlags, type AskedJob, type AskedStage } from './pipeline-job.ts';
import { money, usdOf } from '../../options/text/printed-numbers.ts';

/** Shows all stages: the batches of those with a sheet, and when the others follow. */
export async function planPipeline(context: Context, flags: SheetFlags, path: string): Promise<void> {
  const printer = printerFor(context, flags);
  if (flags.output !== 'text')
    throw problem('E602', {
      what: 'the plan of a job with stages is text',
      hint: 'once it runs, for scripts: runsheet pipeline show -o json',
    });
  const pipelineWide = await pipelineFlags(context, path);
  await using servers = serversFor(configOf(pipelineWide), printer);
  const job = await askedJob(context, servers, path, pipelineWide, false);
  const definition = definitionOf(job);
  const { made } = await madeStages(servers, definition);
  const sources = new Map<string, SourceBatch>([...made].map(([stage, { file }]) => [stage, file]));
  printer.data(terminalLine(job.pipeline));
  for (const { definition: stage, rows } of job.stages) {
    printer.data(terminalLine(planLine(stage, made.get(stage.name))));
    if (rows === undefined || made.has(stage.name)) continue;
    const request = requestOfStage(job.pipeline, stage);
    await using planned = await planBatch(servers, request, await rows(), fromNotes(printer));
    const { draft, estimate, notes, questions } = planned;
    sources.set(stage.name, draft.file);
    printBatch(printer, servers.config, draft);
    for (const note of notes) printer.notice(`  earlier   ${note}`);
    for (const { text } of questions) printer.notice(terminalLine(`  asks      ${text}`));
    for (const line of forecastLines(estimate)) printer.notice(line);
  }
  await checkStages({ servers, made, isPlan: true }, definition, sources);
  printer.notice('nothing was sent');
  printer.next(['run', sameCommand(context.args ?? [], 'run')]);
}

function planLine(
  { name, from, pick, request: { deployment, settings } }: StageDefinition,
  made: FoundBatch | undefined,
): string {
  const { maxCostNano } = settings;
  const when =
    made !== undefined
      ? `made: ${made.batch}`
      : from === undefined
        ? 'first'
        : pick
          ? `after the picks of ${from}`
          : `after ${from}`;
  const most = maxCostNano === undefined ? '' : `, at most ${money(usdOf(maxCostNano))}`;
  return `stage ${name}: ${deployment}, ${when}${most}`;
}

export async function runPipeline(context: Context, flags: SheetFlags, path: string): Promise<number> {
  const printer = printerFor(context, flags);
  const command = sameCommand(context.args ?? [], 'run');
  return started(context, flags, path, async (servers, opened, session, { made, definition }) =>
    followPipeline({
      process: context.process,
      printer,
      out: servers.config.out,
      opened,
      session,
      connection: servers.asked(session),
      command,
      // A worker may have made a stage from an earlier version of the job.
      check: (stages) => {
        for (const { stage, batchFolder } of stages)
          if (batchFolder?.file.stage !== undefined && !made.has(stage))
            refuseOther(definition, { batchFolder, stage: { name: stage }, hasEnded: false });
      },
    }),
  );
}

/** Prints the name of the pipeline on stdout. */
export async function submitPipeline(context: Context, flags: SheetFlags, path: string): Promise<number> {
  const printer = printerFor(context, flags);
  return started(context, flags, path, async (servers, opened, session) => {
    const { stack } = session;
    const { config } = servers;
    if (flags.output === 'json')
      printer.json(pipelineJson(opened, await pipelineStatus(config.out, opened, servers.asked(session))));
    else printer.name(opened.file.pipeline);
    if (stack !== undefined) printer.notice('the embedded servers end with the last command that uses them');
    printer.next(['follow', sameCommand(context.args ?? [], 'run')]);
    return EXIT.ok;
  });
}

type StartedPipeline = Awaited<ReturnType<typeof startPipeline>>;
type Then = (
  servers: Servers,
  opened: StartedPipeline,
  session: Awaited<ReturnType<Servers['open']>>,
  request: { readonly definition: AskedPipeline; readonly made: ReadonlyMap<string, FoundBatch> },
) => Promise<number>;

async function started(context: Context, flags: SheetFlags, path: string, then: Then): Promise<number> {
  const printer = printerFor(context, flags);
  const pipelineWide = await pipelineFlags(context, path);
  await using servers = serversFor(configOf(pipelineWide), printer);
  const job = await askedJob(context, servers, path, pipelineWide);
  const definition = definitionOf(job);
  const { known: recordedBefore, made } = await madeStages(servers, definition);
  const policy = policyOf({ printer, process: context.process, asks: flags.output === 'text' });
  await checkAll(servers, job, made, policy);
  let recorded: PipelineFolder | undefined;
  const record = async () => (recorded ??= await recordPipeline(servers, definition, recordedBefore));
  try {
    await makeStages(
      servers,
      { printer, policy, job, record },
      job.stages.filter(({ definition: { name } }) => !made.has(name)),
    );
  } catch (error) {
    if (recorded !== undefined && recordedBefore === undefined) await withdrawPipeline(servers, recorded);
    throw error;
  }
  const opened = await startPipeline(servers, await record());
  // Awaited here, because returning releases the servers.
  return await then(servers, opened, await servers.open(isLocal(definition)), { definition, made });
}

const definitionOf = ({ pipeline, command, stages }: AskedJob): AskedPipeline => ({
  pipeline,
  command,
  stages: stages.map(({ definition }) => definition),
});

/** Checks all stages before the first batch is made: a later stage that can never run would strand it. */
async function checkAll(
  servers: Servers,
  job: AskedJob,
  made: ReadonlyMap<string, FoundBatch>,
  { ask, wording }: Pick<Policy, 'ask' | 'wording'>,
): Promise<void> {
  const sources = new Map<string, SourceBatch>([...made].map(([stage, { file }]) => [stage, file]));
  for (const { definition, rows } of job.stages) {
    if (rows === undefined || sources.has(definition.name)) continue;
    await using planned = await planBatch(servers, requestOfStage(job.pipeline, definition), await rows());
    if (ask === undefined && planned.open.length > 0) throw refusal(planned.open, wording);
    sources.set(definition.name, planned.draft.file);
  }
  await checkStages({ servers, made }, definitionOf(job), sources);
}

type StageMaking = {
  readonly printer: Printer;
  readonly policy: Omit<Policy, 'show'>;
  readonly job: AskedJob;
  readonly record: () => Promise<unknown>;
};

/** Makes the batches of stages with a sheet, last stage first, so that a user who declines one has none made. */
async function makeStages(
  servers: Servers,
  making: StageMaking,
  [stage, ...laterStages]: readonly AskedStage[],
): Promise<void> {
  if (stage === undefined) return void (await making.record());
  const { printer, policy, job } = making;
  let made: Promise<void> | undefined;
  const before = (): Promise<void> => (made ??= makeStages(servers, making, laterStages));
  const rows = await stage.rows?.();
  if (rows === undefined) return before();
  printer.notice(`stage ${stage.definition.name}`);
  await makeBatch(servers, requestOfStage(job.pipeline, stage.definition), rows, {
    ...policy,
    before,
    ...shownWith(printer, servers.config),
  });
}
