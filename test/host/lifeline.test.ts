// Programs on a lifeline, started by a process that is killed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { spawnOnLifeline } from '../../src/host/lifeline.ts';
import { familyOf, isAlive, killQuietly } from '../stage/processes.ts';
import { until } from '../stage/stage.ts';

const LIFELINE = new URL('../../src/host/lifeline.ts', import.meta.url).href;

/** A process that starts `program` on a lifeline and prints its process id. */
async function starterOf(program: readonly string[], graceSeconds: number) {
  const script = `
    import { spawnOnLifeline } from '${LIFELINE}';
    const [program, ...args] = ${JSON.stringify(program)};
    const child = spawnOnLifeline(program, args, { stdio: ['ignore', 'ignore', 'ignore'], graceSeconds: ${graceSeconds} });
    console.log(child.pid);
    setInterval(() => undefined, 1_000);`;
  const starter = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  return { starter, pid: Number(line) };
}

it('a program ends with its children after a SIGKILL of the process that started it', async () => {
  const { starter, pid } = await starterOf(['/bin/sh', '-c', 'sleep 600 & sleep 600'], 0);
  await until(() => familyOf(pid).length === 3, 'the program has its two children');
  const family = familyOf(pid);
  starter.kill('SIGKILL');
  await expect.poll(() => family.filter(isAlive), { timeout: 5_000 }).toEqual([]);
});

it('a program outlives the process that started it for its grace', async () => {
  const { starter, pid } = await starterOf(['sleep', '600'], 2);
  starter.kill('SIGKILL');
  await once(starter, 'exit');
  const killedAt = performance.now();
  await until(() => !isAlive(pid), 'the program has ended', 10_000);
  expect(performance.now() - killedAt).toBeGreaterThan(1_000);
});

it('a program keeps its input, its exit code and its process id, and has no child of ours', async () => {
  const child = spawnOnLifeline('/bin/sh', ['-c', 'read -r line; echo "$line $$"; read -r _; exit 7'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const said = text(child.stdout as NonNullable<typeof child.stdout>);
  child.stdin?.write('hello\n');
  await until(() => familyOf(child.pid).length === 1, 'the program is alone');
  child.stdin?.end('\n');
  expect(await once(child, 'exit')).toEqual([7, null]);
  expect(await said).toBe(`hello ${child.pid}\n`);
});

it('a program that ends may leave a process behind', async () => {
  const child = spawnOnLifeline('/bin/sh', ['-c', 'sleep 600 >/dev/null & echo $!'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const left = Number(await text(child.stdout as NonNullable<typeof child.stdout>));
  await new Promise((done) => setTimeout(done, 500));
  expect(isAlive(left)).toBe(true);
  killQuietly(left);
});
