// Plans a run when it gets a container: all its future times, decided once and stored.
//
//   queued ──boot──▶ started ─▶ running ── node by node ──▶ success | failed (half way)
//   ├───────────────────── run time-out ──────────────────▶ timeout, at any step
//   ├────────── the container is taken away ──────────────▶ preempted: the run waits for another one
//   └────────── the container is killed ──────────────────▶ silent: no webhook, and the run never changes again
//
// Between two changes of status, live status and progress are computed from the plan on request.

import { parseExactly } from '../../../host/formats/exact-json.ts';
import type { Status } from '../../../service-client/contract/statuses.ts';
import { runSecondsOn, type DeploymentSpec } from '../../service-deployments.ts';
import { GPU_MEMORY_GB } from '../../../options/facts/gpu.ts';
import { NO_WORK, type RunWork } from '../executor.ts';

/** Times are milliseconds since 1970. `runMs` is the duration of the run if nothing interrupts it. */
export type RunPlan = {
  readonly queuedMs: number;
  readonly startsMs: number;
  readonly runMs: number;
  readonly endsMs: number;
  readonly ending: 'success' | 'failed' | 'timeout' | 'preempted' | 'silent';
  readonly outputs: number;
};

export type PlannedResult = 'none' | 'fail' | 'preempt' | 'oom' | 'stuck' | 'hang';

/** Plans a run that gets a container at `atMs`. `draw`, in [0, 1), picks the duration within the spread. */
export function planRun(facts: {
  readonly spec: DeploymentSpec;
  readonly speed: number;
  readonly gpu: string;
  readonly neededGb: number;
  readonly cold: boolean;
  readonly plannedResult: PlannedResult;
  readonly draw: number;
  readonly atMs: number;
  readonly outputs: number;
}): RunPlan {
  const { spec, atMs } = facts;
  const lived = (seconds: number): number => Math.round((seconds * 1000) / facts.speed);
  const spread = 1 + spec.runSpread * (2 * facts.draw - 1);
  const runMs = lived(runSecondsOn(spec, facts.gpu) * spread);
  const startsMs = atMs + lived(facts.cold ? spec.coldStartSeconds : spec.warmStartSeconds);
  const { ending, atShare } =
    END_OF[hasMemory(facts.gpu, facts.neededGb) ? facts.plannedResult : 'too large'];
  const bootMs = startsMs - atMs;
  const ownEndMs = atMs + Math.round(bootMs * Math.min(1, 1 + atShare) + runMs * Math.max(0, atShare));
  const timeoutMs = atMs + lived(spec.runTimeoutSeconds);
  const plan = { queuedMs: atMs, startsMs, runMs, outputs: facts.outputs };
  return ownEndMs > timeoutMs
    ? { ...plan, endsMs: timeoutMs, ending: 'timeout' }
    : { ...plan, endsMs: ownEndMs, ending };
}

/** How a run ends, and after which share of its run time; a negative share means during boot. */
const END_OF: Readonly<Record<PlannedResult | 'too large', { ending: RunPlan['ending']; atShare: number }>> =
  {
    none: { ending: 'success', atShare: 1 },
    fail: { ending: 'failed', atShare: 0.5 },
    'too large': { ending: 'failed', atShare: 0.15 },
    preempt: { ending: 'preempted', atShare: 0.5 },
    oom: { ending: 'silent', atShare: 0.5 },
    stuck: { ending: 'silent', atShare: -0.5 },
    hang: { ending: 'timeout', atShare: Number.POSITIVE_INFINITY },
  };

/** The nodes of the workflow and the share of the run time that each takes. */
export const NODES = [
  { name: 'CheckpointLoaderSimple', share: 0.04 },
  { name: 'CLIPTextEncode', share: 0.02 },
  { name: 'CLIPTextEncode', share: 0.02 },
  { name: 'EmptyLatentImage', share: 0.01 },
  { name: 'KSampler', share: 0.78 },
  { name: 'VAEDecode', share: 0.08 },
  { name: 'SaveImage', share: 0.05 },
] as const;

// The graph starts a moment after the container is ready.
const GRAPH_BEGINS = 0.02;

const runningMsOf = (plan: RunPlan): number => plan.startsMs + Math.round(plan.runMs * GRAPH_BEGINS);

export function nodeStartsMs(plan: RunPlan): readonly number[] {
  const beginsMs = runningMsOf(plan);
  const graphMs = plan.startsMs + plan.runMs - beginsMs;
  let share = 0;
  return NODES.map((node) => {
    const startMs = beginsMs + Math.round(graphMs * share);
    share += node.share;
    return startMs;
  });
}

/** The live status and progress of a run with this plan at `atMs`. */
export function workAt(plan: RunPlan, atMs: number): RunWork {
  const startsMs = nodeStartsMs(plan);
  const index = startsMs.findLastIndex((startMs) => startMs <= atMs);
  const node = NODES[index];
  if (node === undefined) return NO_WORK;
  const done = atMs >= plan.startsMs + plan.runMs ? NODES.length : index;
  return {
    liveStatus: `Executing ${node.name}`,
    progress: Math.round((done / NODES.length) * 100) / 100,
    sinceMs: startsMs[index] ?? 0,
  };
}

/** A published step of a run: a change of status, or progress while `running`. */
export type RunStep =
  | { readonly kind: 'status'; readonly atMs: number; readonly status: Status }
  | { readonly kind: 'progress'; readonly atMs: number }
  | { readonly kind: 'lost'; readonly atMs: number; readonly waits: boolean };

const SHOWN_NODES: ReadonlySet<string> = new Set(['KSampler', 'VAEDecode', 'SaveImage']);

/** The steps after `queued`, in order; with `progress` also the published nodes. */
export function stepsOf(plan: RunPlan, also: { readonly progress: boolean }): readonly RunStep[] {
  const end = endOf(plan);
  const way: readonly RunStep[] = [
    { kind: 'status', atMs: plan.startsMs, status: 'started' },
    { kind: 'status', atMs: runningMsOf(plan), status: 'running' },
    ...(also.progress ? progressSteps(plan) : []),
  ];
  // Without a time-out or failure, the last step is the end of the plan, even if it takes no time.
  const reached = plan.ending === 'success' ? way : way.filter((step) => step.atMs <= plan.endsMs);
  return [...reached, end];
}

function endOf({ ending, endsMs: atMs }: RunPlan): RunStep {
  if (ending === 'silent' || ending === 'preempted')
    return { kind: 'lost', atMs, waits: ending === 'preempted' };
  return { kind: 'status', atMs, status: ending };
}

const progressSteps = (plan: RunPlan): readonly RunStep[] =>
  nodeStartsMs(plan).flatMap((atMs, index) =>
    SHOWN_NODES.has(NODES[index]?.name ?? '') ? [{ kind: 'progress', atMs } as const] : [],
  );

/** Whether the GPU has `gb` of memory; true for an unknown GPU. */
export const hasMemory = (gpu: string, gb: number): boolean =>
  gb <= ((GPU_MEMORY_GB as Readonly<Record<string, number>>)[gpu] ?? Number.POSITIVE_INFINITY);

/** `inputs` is JSON text, parsed only if the needed memory depends on it. */
export function neededGb(spec: DeploymentSpec, inputs: () => string): number {
  const { vramGb, vramGbPerMegapixel } = spec;
  return vramGbPerMegapixel === 0 ? vramGb : vramGb + vramGbPerMegapixel * megapixels(spec, inputs());
}

function megapixels({ inputTypes = [] }: DeploymentSpec, inputs: string): number {
  const values = parseExactly(inputs) as Readonly<Record<string, unknown>>;
  const numberOf = (name: string, usual: number): number => {
    const value = Number(values[name] ?? inputTypes.find((type) => type.name === name)?.default ?? usual);
    return Number.isFinite(value) ? value : usual;
  };
  const pixels = numberOf('width', USUAL_EDGE) * numberOf('height', USUAL_EDGE);
  return (pixels * numberOf('batch_size', 1)) / 1e6;
}

const USUAL_EDGE = 1_024;
