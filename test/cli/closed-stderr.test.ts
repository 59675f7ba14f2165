import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { programFile } from '../../src/temporal/embedded/processes.ts';
import { ownEnvironment } from '../stage/command.ts';
import { sharedStage } from '../stage/shared-stage.ts';

const stage = sharedStage((newStage) => newStage.service());

it.each([
  [['doctor'], 0, /✓ folders/],
  [['status', 'none-of-these'], 2, /^$/],
])('a command whose stderr has no reader works and ends with its own code: %j', async (args, code, says) => {
  const child = spawn(process.execPath, [programFile(), ...args], {
    cwd: stage.folder,
    env: { ...ownEnvironment(), ...stage.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.destroy();
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  const [ended] = (await once(child, 'close')) as [number];
  expect(stdout).toMatch(says);
  expect(ended).toBe(code);
});

it('plan shows the beginning of a long value on the screen, and all of it as JSON', async () => {
  const sheet = stage.write('long.csv', `prompt\n${'hen '.repeat(50_000)}\n`);
  const shown = await stage.runHere(['plan', sheet, '-d', 'portraits']);
  expect(shown.stdout).toMatch(/"prompt":"hen hen .{150,200}… \(200,000 characters\)"/);
  expect(shown.stdout.length + shown.stderr.length).toBeLessThan(10_000);
  const json = await stage.runHere(['plan', sheet, '-d', 'portraits', '-o', 'json']);
  expect(json.stdout.length).toBeGreaterThan(200_000);
});
