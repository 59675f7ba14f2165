// A local service in a process of its own, which a test can kill and measure.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { asking, TOKEN, type Asking } from './asking.ts';

export type Process = Omit<Asking, 'service'> & {
  readonly url: string;
  readonly pid: number;
  kill(): Promise<void>;
};

export async function startProcess(
  database: string,
  deployment: object,
  more: object = {},
): Promise<Process> {
  const options = {
    port: 0,
    tokens: [TOKEN],
    speed: 100,
    database,
    deployment,
    faults: {},
    seed: 1,
    ...more,
  };
  const program = fileURLToPath(import.meta.resolve('./serving.ts'));
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => killed(child));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, deploymentId } = JSON.parse(line) as { url: string; deploymentId: string };
  return { ...asking(url, deploymentId), url, pid: child.pid ?? 0, kill: () => killed(child) };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
