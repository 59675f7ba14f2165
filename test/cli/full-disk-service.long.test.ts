import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/runsheet.mjs');

it('the local run service reports a full disk and ends with 6 instead of running without its database', async () => {
  const folder = freshFolder();
  // A limit on the size of files stands for the disk: both make a write fail.
  const service = spawn(
    'bash',
    [
      '-c',
      'trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"',
      process.execPath,
      PROGRAM,
      'service',
      '--db',
      join(folder, 'db'),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  onTestFinished(() => void service.kill('SIGKILL'));
  const exited = once(service, 'exit');
  let said = '';
  service.stderr.on('data', (part: Buffer) => (said += part.toString()));
  const [line] = (await once(createInterface({ input: service.stdout }), 'line')) as [string];
  const [, base = '', key = ''] = /URL=(\S+) RUNSHEET_API_KEY=(\S+)/.exec(line) ?? [];
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const deployments = (await (await fetch(`${base}/deployments`, { headers })).json()) as { id: string }[];
  const body = JSON.stringify({ deployment_id: deployments[1]?.id, inputs: { text: 'x'.repeat(10_000) } });
  const orders: number[] = [];
  while (service.exitCode === null && orders.length < 500) {
    const answer = await fetch(`${base}/run/deployment/queue`, { method: 'POST', headers, body }).catch(
      () => undefined,
    );
    orders.push(answer?.status ?? 0);
  }
  const [code] = (await exited) as [number];
  expect(code).toBe(6);
  expect(said).toMatch(/error\[E603\].*refused a write/);
  expect(orders.filter((status) => status === 200).length).toBeGreaterThan(10);
});
