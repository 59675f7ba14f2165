// pipeline list, show, follow, cancel. Only follow and cancel start servers.

import { EXIT } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { refOf } from '../../library/handle/found-batch.ts';
import {
  listPipelines,
  findPipeline,
  pipelineStatus,
  type StageStatus,
} from '../../library/pipeline/pipeline-status.ts';
import { isLocal, refuseElsewhere, startPipeline } from '../../library/pipeline/started-pipeline.ts';
import type { PipelineFolder } from '../../batches/pipeline/pipeline-folder.ts';
import { printerFor, type Context, type Printer, nextLine } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import type { ShownFlags } from '../flags/flags.ts';
import { nextCommand, toRetry } from '../next-command.ts';
import { serversFor } from '../command-session.ts';
import { helpOf, stageLine } from './pipeline-text.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { standStill } from '../../batch/pipeline/stages.ts';
import type { ServerConnection } from '../../library/servers.ts';
import type { Session } from '../../library/session.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { pipelineJson } from '../json/pipeline-json.ts';

type PipelinePlace = { readonly out?: string };

export async function list(this: Context, flags: ShownFlags): Promise<void> {
  const printer = printerFor(this, flags);
  const pipelines = await listPipelines(configOf(flags).out);
  const stages = await stagesOf(flags, printer, pipelines);
  if (flags.output === 'json')
    printer.json(pipelines.map((pipeline, at) => pipelineJson(pipeline, stages[at] ?? [])));
  else
    for (const [at, pipeline] of pipelines.entries()) {
      const parts = (stages[at] ?? []).map(({ stage, state }) => `${stage} ${state}`);
      printer.data(terminalLine([pipeline.file.pipeline, ...parts].join('\t')));
    }
  const [newest] = pipelines;
  if (newest === undefined) printer.notice('no pipelines here yet: docs/pipelines.md');
  else printer.next(['show', pipelineCommand('show', newest)]);
}

export async function show(this: Context, flags: ShownFlags, name: string | undefined): Promise<void> {
  const printer = printerFor(this, flags);
  const opened = await findPipeline(configOf(flags).out, name);
  const [stages = []] = await stagesOf(flags, printer, [opened]);
  if (flags.output === 'json') return printer.json(pipelineJson(opened, stages));
  printer.data(terminalLine(opened.file.pipeline));
  for (const stage of stages) printer.data(stageLine(stage));
  printer.next(...helpOf(opened, stages));
  if (stages.some(({ state }) => state !== 'finished'))
    printer.next(['follow', pipelineCommand('follow', opened)]);
}

/** Asks Temporal about running batches, if its servers are up. */
const stagesOf = (
  flags: PipelinePlace,
  printer: Printer,
  pipelines: readonly PipelineFolder[],
): Promise<readonly (readonly StageStatus[])[]> => {
  const servers = serversFor(configOf(flags), printer);
  const { out } = servers.config;
  return servers.asking((_, connection) =>
    Promise.all(pipelines.map((pipeline) => pipelineStatus(out, pipeline, connection))),
  );
};

export async function follow(
  this: Context,
  flags: PipelinePlace & { readonly quiet: boolean },
  name: string | undefined,
): Promise<number> {
  const opened = await findPipeline(configOf(flags).out, name);
  return continuePipeline(this, flags, opened);
}

/** Starts the servers and the workflow of the pipeline if necessary, and follows it. */
export async function continuePipeline(
  context: Context,
  flags: PipelinePlace & { readonly quiet: boolean },
  folder: PipelineFolder,
  check?: FollowParams['check'],
): Promise<number> {
  const printer = printerFor(context, flags);
  await using servers = serversFor(configOf(flags), printer);
  const opened = await startPipeline(servers, folder);
  const session = await servers.open(isLocal(folder.file));
  const command = pipelineCommand('follow', opened);
  const { out } = servers.config;
  // Awaited here, because returning releases the servers.
  const connection = servers.asked(session);
  return await followPipeline({
    process: context.process,
    printer,
    out,
    opened,
    session,
    connection,
    command,
    check,
  });
}

export async function cancel(this: Context, flags: PipelinePlace, name: string): Promise<number> {
  const printer = printerFor(this);
  const opened = await findPipeline(configOf(flags).out, name);
  const { file } = opened;
  await using servers = serversFor(configOf(flags), printer);
  await refuseElsewhere(servers, opened);
  const session = await servers.open(isLocal(file));
  const { out } = servers.config;
  const connection = servers.asked(session);
  const stages = await pipelineStatus(out, opened, connection);
  const batches = stages.flatMap(({ batchFolder }) =>
    batchFolder === undefined ? [] : [refOf(batchFolder)],
  );
  const isCancelled = await session.pipelines.cancel(file, batches);
  printer.notice(
    isCancelled
      ? `${file.pipeline} is cancelled: batches that run end with their runs, and no other stage begins`
      : `${file.pipeline} has ended already`,
  );
  if (session.stack === undefined) return EXIT.ok;
  // Embedded servers end with this command, so it waits for the last run of the pipeline.
  const isEnded = async (): Promise<boolean> => {
    const running = await Promise.all(batches.map((batch) => session.batches.isRunning(batch)));
    return (await session.pipelines.status(file)) !== 'RUNNING' && !running.includes(true);
  };
  const command = pipelineCommand('cancel', opened);
  const { process } = this;
  return await followPipeline({ process, printer, out, opened, session, connection, command, isEnded });
}

const pipelineCommand = (verb: string, { file, folder }: PipelineFolder): string =>
  nextCommand(`pipeline ${verb}`, { batch: file.pipeline, folder });

export type FollowParams = {
  readonly process: NodeJS.Process;
  readonly printer: Printer;
  readonly out: string;
  readonly opened: PipelineFolder;
  readonly session: Session;
  readonly connection: ServerConnection;
  /** The command that continues the pipeline. */
  readonly command: string;
  /** Throws if the stages differ from the command's request. */
  readonly check?: ((stages: readonly StageStatus[]) => void) | undefined;
  /** Follows until this resolves to true, whatever the stages wait for. */
  readonly isEnded?: () => Promise<boolean>;
};

const POLL_MS = 500;
/** The page of a pipeline is written last, so its end is polled this many times after its stages. */
const LAST_LOOKS = 20;

/** Resolves with the exit code; the caller closes the session. */
export async function followPipeline(params: FollowParams): Promise<number> {
  const { printer, opened, session, command } = params;
  using interrupts = hearInterrupts(params.process);
  let isInterrupted = false;
  void interrupts.first.then(() => (isInterrupted = true));
  const shown = new Map<string, string>();
  let looks = 0;
  const isPatient = (): boolean => (looks += 1) <= LAST_LOOKS;
  for (;;) {
    session.stack?.assertDiskSpace();
    const isEnded = await params.isEnded?.();
    const stages = await pipelineStatus(params.out, opened, params.connection);
    params.check?.(stages);
    for (const stage of stages) {
      const line = stageLine(stage);
      if (shown.get(stage.stage) !== line) printer.notice(line);
      shown.set(stage.stage, line);
    }
    if (isEnded === true) return EXIT.ok;
    const code = isEnded === undefined ? await endOf(params, stages, isPatient) : undefined;
    if (code !== undefined) return code;
    if (isInterrupted) {
      printer.notice(
        session.stack === undefined ? '\nthe pipeline continues' : '\nstopping; nothing is lost',
      );
      printer.notice(nextLine(['continue', command]));
      return EXIT.interrupted;
    }
    await Promise.race([wait(POLL_MS), interrupts.first]);
  }
}

/** Returns undefined while a stage advances by itself. */
async function endOf(
  { printer, opened, session, command }: FollowParams,
  stages: readonly StageStatus[],
  isPatient: () => boolean,
): Promise<number | undefined> {
  const isOver = stages.every(({ state }) => state === 'finished');
  if (!isOver && !standStill(stages.map((stage) => ({ ...stage, hasRuns: hasRuns(stage) }))))
    return undefined;
  const { pipeline, mark } = opened.file;
  // A stage that made no batch is reported before its workflow ends.
  const status = await session.pipelines.status({ pipeline, mark });
  if (isOver && status === 'RUNNING' && isPatient()) return undefined;
  printer.next(...helpOf(opened, stages));
  if (printer.output === 'json') printer.json(pipelineJson(opened, stages));
  else printer.name(opened.folder);
  if (isOver) {
    const failed = stages.some(({ notSucceeded }) => notSucceeded > 0);
    for (const { batchFolder, status: ended } of stages)
      if (batchFolder !== undefined && ended?.summary !== undefined)
        printer.next(...toRetry(batchFolder, ended.summary));
    return failed ? EXIT.someRowsFailed : EXIT.ok;
  }
  printer.next(['continue', command]);
  return status === 'RUNNING' ? EXIT.paused : EXIT.inputRefused;
}

function hasRuns({ status }: StageStatus): boolean {
  const { sending = 0, running = 0, collecting = 0 } = status?.progress ?? {};
  return sending + running + collecting > 0;
}
