// Follows a pipeline until it has ended, waits for the user, or the user presses Ctrl-C. It prints a line whenever a stage changes.

import { setTimeout as wait } from 'node:timers/promises';
import { standStill } from '../../batch/pipeline/stages.ts';
import { EXIT } from '../../errors/error.ts';
import {
  pipelineStatus,
  type PipelineFolder,
  type StageStatus,
} from '../../library/pipeline/pipeline-status.ts';
import type { Session } from '../../library/session.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { type Printer, nextLine } from '../context.ts';
import { pipelineJson } from '../json/pipeline.ts';
import { toRetry } from '../next-command.ts';
import { helpOf, stageLine } from './pipeline-text.ts';

export type FollowParams = {
  readonly process: NodeJS.Process;
  readonly printer: Printer;
  readonly out: string;
  readonly opened: PipelineFolder;
  readonly session: Session;
  /** The command that continues it. */
  readonly command: string;
  /** Throws if the stages are not what the command has asked for. */
  readonly check?: ((stages: readonly StageStatus[]) => void) | undefined;
  /** Follows it until this is true, whatever its stages wait for. */
  readonly isEnded?: () => Promise<boolean>;
};

const LOOK_MS = 500;
/** How often it looks whether the pipeline has ended after its stages: it writes its page last. */
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
    const stages = await pipelineStatus(params.out, opened, session);
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
    await Promise.race([wait(LOOK_MS), interrupts.first]);
  }
}

/** undefined as long as a stage advances automatically. */
async function endOf(
  { printer, opened, session, command }: FollowParams,
  stages: readonly StageStatus[],
  isPatient: () => boolean,
): Promise<number | undefined> {
  const isOver = stages.every(({ state }) => state === 'finished');
  if (!isOver && !standStill(stages.map((one) => ({ ...one, hasRuns: hasRuns(one) })))) return undefined;
  const { pipeline, mark } = opened.file;
  // What made no batch is said before its workflow ends.
  const status = await session.pipelines.status({ pipeline, mark });
  if (isOver && status === 'RUNNING' && isPatient()) return undefined;
  printer.next(...helpOf(opened, stages));
  if (printer.output === 'json') printer.json(pipelineJson(opened, stages));
  else printer.name(opened.folder);
  if (isOver) {
    const failed = stages.some(({ notSucceeded }) => notSucceeded > 0);
    for (const { found, status: ended } of stages)
      if (found !== undefined && ended?.summary !== undefined) printer.next(...toRetry(found, ended.summary));
    return failed ? EXIT.someRowsFailed : EXIT.ok;
  }
  printer.next(['continue', command]);
  return status === 'RUNNING' ? EXIT.paused : EXIT.inputRefused;
}

function hasRuns({ status }: StageStatus): boolean {
  const { sending = 0, running = 0, collecting = 0 } = status?.progress ?? {};
  return sending + running + collecting > 0;
}
