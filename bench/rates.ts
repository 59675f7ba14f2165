// Measures what a row costs Temporal at the rates of people: few runs outstanding, each of some seconds.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workflowIdOf } from '../src/batch/workflow-ids.ts';
import { readBatchFile } from '../src/store/batch-file.ts';
import { folderStore } from '../src/store/folder.ts';
import { connectClient } from '../src/temporal/connect.ts';
import { busyShare } from './batch.ts';
import { actionsAt, historyCosts, type Counts } from './history-costs.ts';
import { Place } from './place.ts';
import { freePort } from './servers.ts';

type Shape = {
  readonly outstanding: number;
  readonly runSeconds: number;
  /** How many runs the service runs at the same time; the others queue. */
  readonly machines: number;
  readonly rows: number;
};

const SHAPES: readonly Shape[] = [
  { outstanding: 4, runSeconds: 2, machines: 4, rows: 120 },
  { outstanding: 8, runSeconds: 2, machines: 8, rows: 240 },
  { outstanding: 24, runSeconds: 5, machines: 24, rows: 400 },
  { outstanding: 24, runSeconds: 5, machines: 12, rows: 300 },
  { outstanding: 24, runSeconds: 60, machines: 24, rows: 96 },
  { outstanding: 200, runSeconds: 0.1, machines: 200, rows: 4_000 },
  { outstanding: 1_000, runSeconds: 30, machines: 1_000, rows: 4_000 },
];

/** Runs take up to so much longer or shorter, so that they do not end together. */
const RUN_SPREAD = 0.5;

export type Rates = Shape & {
  readonly seconds: number;
  /** The share of the machines' time in which they worked, until the last row was sent. */
  readonly busy: number;
  /** A row's. */
  readonly events: Counts;
  readonly actions: Counts;
};

export async function measureRates(): Promise<readonly Rates[]> {
  const measured: Rates[] = [];
  for (const shape of SHAPES) measured.push(await measureShape(shape));
  return measured;
}

async function measureShape(shape: Shape): Promise<Rates> {
  const { outstanding, runSeconds, machines, rows } = shape;
  const deployment = { name: 'rated', concurrencyLimit: machines, runSeconds, runSpread: RUN_SPREAD };
  const metricsPort = await freePort();
  const place = await Place.open('dev server', [deployment], (program, folder) =>
    withMetrics(program, folder, metricsPort),
  );
  const worker = place.worker();
  const { batch, seconds } = await place.batch({ deployment: 'rated', rows, cap: outstanding });
  const counted = await actionsAt(metricsPort, place.at.namespace);
  const file = await readBatchFile(folderStore(join(place.folder, 'batches', batch)));
  if (file === undefined) throw new Error(`no batch ${batch}`);
  const { client, close } = await connectClient(place.at);
  const costs = await historyCosts(client, workflowIdOf(file));
  await close();
  const busy = await busyShare({ base: place.base, folder: place.folder, deployment: 'rated' }, machines);
  await worker.stop();
  await place.close();
  const result = {
    ...shape,
    seconds,
    busy,
    events: perRow(costs.events, rows),
    actions: perRow({ ...counted, retries: costs.retries }, rows),
  };
  console.error(summaryOf(result));
  return result;
}

/** Starts the server with its counters on a page. */
function withMetrics(program: string, folder: string, port: number): string {
  const script = join(folder, 'temporal-with-metrics');
  writeFileSync(script, `#!/bin/sh\nexec '${program}' "$@" --metrics-port ${port}\n`);
  chmodSync(script, 0o700);
  return script;
}

const perRow = (counts: Counts, rows: number): Counts =>
  Object.fromEntries(Object.entries(counts).map(([kind, count]) => [kind, count / rows]));

export const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

function summaryOf({ outstanding, runSeconds, machines, busy, events, actions }: Rates): string {
  const text = (counts: Counts): string =>
    Object.entries(counts)
      .map(([kind, count]) => `${kind} ${count.toFixed(2)}`)
      .join(', ');
  return `${outstanding} × ${runSeconds} s on ${machines} machines, busy ${busy.toFixed(3)}: ${sumOf(events).toFixed(2)} events (${text(events)}), ${sumOf(actions).toFixed(2)} actions (${text(actions)})`;
}
