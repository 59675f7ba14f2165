// Measures the start-up: from the command to the first run at the service, including the start of the embedded Temporal.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '../src/temporal/embedded/processes.ts';
import { median } from './median.ts';
import { firstRunAt } from './batch.ts';
import { KEY, startService } from './servers.ts';
import { makeSheet } from './sheet.ts';

const TRIES = 5;

export type Start = {
  readonly firstRunSeconds: number;
  readonly threeRowsSeconds: number;
  readonly helpSeconds: number;
  readonly nodeSeconds: number;
};

export async function measureStart(): Promise<Start> {
  const first: number[] = [];
  const whole: number[] = [];
  const help: number[] = [];
  const bare: number[] = [];
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'runsheet-bench-'));
    const deployment = { name: 'short', concurrencyLimit: 8, runSeconds: 0.2 };
    const service = await startService(folder, [deployment]);
    await makeSheet(join(folder, 'three.csv'), 3);
    const environment = { ...process.env, RUNSHEET_API_URL: service.base, RUNSHEET_API_KEY: KEY };
    const began = Date.now();
    await ended(folder, [programFile(), 'run', 'three.csv', '-d', 'short', '-q'], environment);
    whole.push((Date.now() - began) / 1000);
    first.push(((await firstRunAt(service.base, deployment.name, folder)) - began) / 1000);
    help.push(await secondsOf(folder, [programFile(), '--help']));
    bare.push(await secondsOf(folder, ['-e', '0']));
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    firstRunSeconds: median(first),
    threeRowsSeconds: median(whole),
    helpSeconds: median(help),
    nodeSeconds: median(bare),
  };
}

async function secondsOf(folder: string, args: readonly string[]): Promise<number> {
  const began = performance.now();
  await ended(folder, args, process.env);
  return (performance.now() - began) / 1000;
}

async function ended(folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`${args.slice(1).join(' ')} ended with ${code}`);
}
