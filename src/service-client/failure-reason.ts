// Finds the reason of a failed run, and its kind, in the log of the run.

import type { FailureKind, RunFailure } from '../options/facts/failure-kind.ts';
import type { LogLine } from './contract/run.ts';

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
