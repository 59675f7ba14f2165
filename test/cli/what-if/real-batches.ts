// Runs batches on the local run service, and compares what a replay of one says about another one with what that one then did.

import { rmSync } from 'node:fs';
import { readMeasured, type MeasuredBatch } from '../../../src/results/what-if/measured-batch.ts';
import { serviceFacts } from '../../../src/results/what-if/service-facts.ts';
import { whatIf, type Change } from '../../../src/results/what-if/what-if.ts';
import { readPastRuns } from '../../../src/results/past-runs.ts';
import { readSummary } from '../../../src/results/summary.ts';
import { openBatchFolder } from '../../../src/store/batch-folders.ts';
import type { Stage } from '../../stage/stage.ts';

/** A deployment of the local run service, and the sheet and the flags of its two batches. */
export type Shape = {
  readonly name: string;
  readonly deployment: Readonly<Record<string, unknown>>;
  readonly rows: number;
  /** The cells after the number of a row; with their header. */
  readonly header?: string;
  readonly cells?: (row: number) => string;
  readonly faults?: readonly string[];
  readonly first: readonly string[];
  readonly second: readonly string[];
  /** Other batches before the replay, by name: their flags. */
  readonly others?: Readonly<Record<string, readonly string[]>>;
  /** The second flags as a change. */
  readonly change: Change;
};

type Amounts = { readonly seconds: number; readonly cost_usd: number };

export type Compared = {
  /** What the replay of the first batch said. */
  readonly said: Amounts;
  /** The same with the start latencies of the second batch, which differ on a busy machine. */
  readonly saidWithItsLatencies: Amounts;
  /** What the second batch did. */
  readonly did: Amounts;
};

/** The share by which the replay was wrong. */
export const differenceOf = ({ saidWithItsLatencies: said, did }: Compared, name: keyof Amounts): number =>
  Math.abs(said[name] / did[name] - 1);

async function runBatch(
  stage: Stage,
  shape: Shape,
  name: string,
  flags: readonly string[],
): Promise<MeasuredBatch> {
  const { header = 'prompt', cells = () => 'fox' } = shape;
  const lines = Array.from({ length: shape.rows }, (_, at) => `${at + 1},${cells(at + 1)}`);
  const sheet = stage.write(`${shape.name}.csv`, `number,${header}\n${lines.join('\n')}\n`);
  const run = ['run', sheet, '-d', shape.name, '--name', name, '--again', ...flags];
  const { code, stderr } = await stage.run(run);
  if (code !== 0 && code !== 3) throw new Error(stderr);
  return measured(stage, name);
}

async function measured(stage: Stage, name: string): Promise<MeasuredBatch> {
  const found = await openBatchFolder(stage.path('batches'), name);
  const summary = found && (await readSummary(found.store));
  if (found === undefined || summary === undefined) throw new Error(`${name} has not ended`);
  return readMeasured(found.store, found.file, summary);
}

/** Replays the first batch, runs the second one, and compares. */
export async function compare(stage: Stage, shape: Shape): Promise<Compared> {
  const before = await serve(stage, shape);
  const first = await runBatch(stage, shape, `${shape.name}-a`, shape.first);
  for (const [name, flags] of Object.entries(shape.others ?? {})) await runBatch(stage, shape, name, flags);
  const { deployment, service } = first.file;
  const past = await readPastRuns(stage.path('batches'), {
    deployment: deployment.id,
    base: service.base,
    gpus: ['A10G', 'H100'],
  });
  await before.kill();
  const said = whatIf(first, shape.change, past.samples);
  const after = await serve(stage, shape, Number(new URL(before.base).port));
  const second = await runBatch(stage, shape, `${shape.name}-b`, shape.second);
  await after.kill();
  const { latencies } = serviceFacts(second);
  const again = whatIf(first, shape.change, past.samples, { ...said.facts, latencies });
  if (said.expected === undefined || again.expected === undefined) throw new Error('nothing is expected');
  const { seconds, cost_usd } = second.summary;
  return { said: said.expected, saidWithItsLatencies: again.expected, did: { seconds, cost_usd } };
}

/** A service without runs: run times depend on the number of a run, so both batches get the same ones. */
function serve(
  stage: Stage,
  { name, deployment, faults = [] }: Shape,
  port = 0,
): ReturnType<Stage['service']> {
  rmSync(stage.path('service.db'), { force: true });
  const file = stage.write('deployments.json', JSON.stringify([{ name, ...deployment }]));
  return stage.service(['--deployments', file, ...faults.flatMap((fault) => ['--fault', fault])], port);
}
