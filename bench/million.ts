// Takes one very large sheet through every command: the time of each step and the peak memory of its process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setInterval as every } from 'node:timers';
import { pipeline } from 'node:stream/promises';
import { programFile } from '../src/temporal/embedded/processes.ts';
import { Place, type Backend } from './place.ts';
import { homeIn, KEY, peakMb } from './servers.ts';
import { makeSheet } from './sheet.ts';
import { spanOf } from './batch.ts';

const CAP = 200;
const RUN_SECONDS = 0.05;
const NAME = 'large';

type Step = { readonly step: string; readonly seconds: number; readonly peakMb: number };
export type Million = {
  readonly backend: Backend;
  readonly rows: number;
  readonly rowsPerSecond: number;
  readonly steps: readonly Step[];
};

export async function measureMillion(backend: Backend, rows: number): Promise<Million> {
  const place = await Place.open(backend, [
    { name: 'short', concurrencyLimit: CAP, runSeconds: RUN_SECONDS },
  ]);
  const sheet = join(place.folder, 'large.csv');
  await makeSheet(sheet, rows);
  const worker = place.worker();
  const steps: Step[] = [];
  const step = async (name: string, ...args: readonly string[]): Promise<void> => {
    steps.push({ step: name, ...(await run(place, args)) });
    console.error(`${name}: ${steps.at(-1)?.seconds.toFixed(1)} s, ${steps.at(-1)?.peakMb.toFixed(0)} MB`);
  };
  await step('layout and start', 'submit', sheet, '-d', 'short', '-c', String(CAP), '--name', NAME);
  await run(place, ['wait', NAME]);
  const endedAt = Date.now();
  const { first, last } = await spanOf({ base: place.base, folder: place.folder, deployment: 'short' });
  const worked = { peakMb: peakMb(worker.child.pid) };
  steps.push({ step: 'run (worker)', seconds: (last - first) / 1_000, ...worked });
  steps.push({
    step: 'close: lists, results, report (worker)',
    seconds: (endedAt - last) / 1_000,
    ...worked,
  });
  for (const result of steps.slice(-2))
    console.error(`${result.step}: ${result.seconds.toFixed(1)} s, ${result.peakMb.toFixed(0)} MB`);
  await step('status', 'status', NAME);
  await step('results', 'results', NAME);
  await step('verify', 'verify', NAME);
  await step('export to CSV', 'export', NAME, '--as', 'csv', '--file', join(place.folder, 'export.csv'));
  await worker.stop();
  await step('clean', 'clean', '--older-than', '1s', '--yes');
  await place.close();
  return { backend, rows, rowsPerSecond: (rows * 1_000) / (last - first), steps };
}

async function run(place: Place, args: readonly string[]): Promise<Omit<Step, 'step'>> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [programFile(), ...args], {
    cwd: place.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TEMPORAL_ADDRESS: place.at.address,
      TEMPORAL_NAMESPACE: place.at.namespace,
      RUNSHEET_API_URL: place.base,
      RUNSHEET_API_KEY: KEY,
      RUNSHEET_HOME: homeIn(place.folder),
      RUNSHEET_OUT: join(place.folder, 'batches'),
    },
  });
  let peak = 0;
  const watch = every(() => {
    if (child.exitCode === null) peak = Math.max(peak, peakOf(child.pid) || 0);
  }, SAMPLE_MS);
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors = `${errors}${text.toString()}`.slice(-2_000)));
  await Promise.all([once(child, 'exit'), pipeline(child.stdout, createWriteStream('/dev/null'))]);
  clearInterval(watch);
  if (child.exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${child.exitCode}: ${errors}`);
  return { seconds: (performance.now() - startedAt) / 1_000, peakMb: peak };
}

const SAMPLE_MS = 50;

/** 0 once the process has ended. */
function peakOf(pid: number | undefined): number {
  try {
    return peakMb(pid);
  } catch {
    return 0;
  }
}
