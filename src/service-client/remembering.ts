// Caches ended runs, because the receiver, the poll and `collectRows` all read a run after its end, when it no longer changes.
// `forget` makes the next call read it again, for expired links and late outputs.

import type { RunService } from './client.ts';
import type { Run, LogLine } from './contract/run.ts';
import type { KnownRun } from './run-outcome.ts';
import { isTerminal } from './contract/statuses.ts';
import type { RunFailure, FailureKind } from '../options/failure-kind.ts';

const MAX_REMEMBERED = 2_000;
/** A bound on the total size in characters, because outputs with many files or long texts would fill the memory. */
const REMEMBERED_CHARS = 64 << 20;

export type RememberingService = Omit<RunService, 'getRun'> & {
  getRun(runId: string): Promise<KnownRun | undefined>;
  forget(runId: string): void;
};

export function remembering(service: RunService): RememberingService {
  const ended = new Map<string, { readonly run: KnownRun; readonly chars: number }>();
  let chars = 0;
  const forget = (runId: string): void => {
    chars -= ended.get(runId)?.chars ?? 0;
    ended.delete(runId);
  };
  const remember = (run: KnownRun): void => {
    forget(run.id);
    const remembered = { run, chars: JSON.stringify(run).length };
    ended.set(run.id, remembered);
    chars += remembered.chars;
    for (const oldest of ended.keys()) {
      if (ended.size <= MAX_REMEMBERED && chars <= REMEMBERED_CHARS) break;
      forget(oldest);
    }
  };
  return {
    ...service,
    getRun: async (runId) => {
      const remembered = ended.get(runId);
      if (remembered !== undefined) return remembered.run;
      const read = await service.getRun(runId);
      const run = read?.status === 'failed' && read.id === runId ? await withFailure(service, read) : read;
      // A `timeout` without an end time is not final, because the run may still start.
      if (run && run.id === runId && isTerminal(run.status) && run.endedAtMs !== undefined) remember(run);
      return run;
    },
    forget,
  };
}

/** Reads why the run failed. A log that cannot be read must not hide the end of the run. */
async function withFailure(service: RunService, run: Run): Promise<KnownRun> {
  const lines = await service.getRunLog(run.id).catch(() => undefined);
  const failure = failureIn(lines ?? []);
  return failure === undefined ? run : { ...run, failure };
}

/** The first matching pattern decides. */
const PATTERNS: readonly (readonly [kind: FailureKind, pattern: RegExp])[] = [
  [
    'out-of-memory',
    /out of memory|OutOfMemory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|\bOOM\b|Killed process/i,
  ],
  [
    'validation',
    /prompt_outputs_failed_validation|failed validation|invalid prompt|value not in list|required input is missing|return type mismatch|missing_node_type|node .* not found|does not exist in the node/i,
  ],
  [
    'cold-start',
    /container (?:failed|did not) (?:to )?start|image pull|failed to load model|error while loading the checkpoint|cold start/i,
  ],
  ['timeout', /time limit|timed? ?out|deadline exceeded/i],
  [
    'infrastructure',
    /connection (?:reset|refused|aborted)|ECONN|network (?:is )?unreachable|no space left|ECC error|Xid \d|GPU has fallen off|preempt|evicted|worker (?:lost|died)|NCCL/i,
  ],
  ['node-error', /Error\b|Exception\b|!!!/],
];

const kindOf = (text: string): FailureKind =>
  PATTERNS.find(([, pattern]) => pattern.test(text))?.[0] ?? 'unknown';

/** undefined if the log names no error. */
export function failureIn(lines: readonly LogLine[]): RunFailure | undefined {
  const errors = lines.filter(({ level }) => level === 'error').map(({ message }) => lastLine(message));
  const last = errors.findLast((text) => text !== '');
  if (last === undefined) return undefined;
  // An earlier line may name the cause of the last one.
  const kinds = errors.map(kindOf);
  const specific = kinds.find((kind) => kind !== 'node-error' && kind !== 'unknown');
  return { kind: specific ?? kindOf(last), reason: last };
}

/** A Python traceback ends with its error. */
const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? '';
