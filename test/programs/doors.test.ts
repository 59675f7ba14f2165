// A job file may come from a stranger, so it cannot name a program; only the command line can.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Console } from '../console/console.ts';

const STAGE = `
[[stage]]
name = "drafts"
from = "prompts.csv"
`;

it.each([
  ['a job', (program: string) => `sheet = "prompts.csv"\n${program}\n`],
  ['a job for all its stages', (program: string) => `${program}\n${STAGE}deployment = "portraits"\n`],
  ['a stage', (program: string) => `${STAGE}${program}\n`],
])('%s cannot name a program: the key is refused, and nothing is executed', async (_, job) => {
  const console = await Console.open();
  console.write('prompts.csv', 'number,prompt\n1,a fox\n');
  const owned = join(console.folder, 'owned');
  console.write('night.job.toml', job(`program = "touch ${owned}"`));
  for (const command of ['plan', 'run', 'submit']) {
    const { code, stderr } = await console.run(command, join(console.folder, 'night.job.toml'));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/E602[^]*program/)]);
  }
  expect(existsSync(owned)).toBe(false);
  expect(existsSync(join(console.folder, 'home', 'programs'))).toBe(false);
});

it.each([['--stays'], ['--gpus', '2']])(
  '%s without a program is refused, and nothing is sent',
  async (...flag) => {
    const console = await Console.open();
    console.write('prompts.csv', 'number,prompt\n1,a fox\n');
    const { code, stderr } = await console.run('run', 'prompts.csv', '-d', 'portraits', '--local', ...flag);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag[0]} needs --program`)]);
  },
);
