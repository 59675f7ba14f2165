// A job file may come from a stranger: the name of a kept program or model in it is asked about.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { reachAt } from '../../src/cli/job/job-reach.ts';
import { keepLine } from '../../src/host/kept-lines.ts';
import { ownTasksIn } from '../../src/host/settings/named-program.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const before = process.env['RUNSHEET_HOME'];
afterEach(() => {
  if (before === undefined) delete process.env['RUNSHEET_HOME'];
  else process.env['RUNSHEET_HOME'] = before;
});

it('a job that names a deployment of a program or a hosted model needs trust, also in a stage', () => {
  const folder = freshFolder();
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  process.env['RUNSHEET_HOME'] = home;
  keepLine(ownTasksIn(home), 'gen');
  const job = (text: string): readonly string[] => {
    const path = join(folder, 'x.job.toml');
    writeFileSync(path, text);
    return reachAt(path).content;
  };
  const line = 'runs gen, which is a program or a hosted model of yours';
  expect(job('sheet = "s.csv"\nlocal = true\ndeployment = "gen"\n')).toEqual([line]);
  expect(job('sheet = "s.csv"\nlocal = true\ndeployment = "GEN"\n')).toEqual([
    'runs GEN, which is a program or a hosted model of yours',
  ]);
  expect(job('[[stage]]\nname = "a"\nfrom = "s.csv"\ndeployment = "gen"\n')).toEqual([line]);
  expect(job('sheet = "s.csv"\nlocal = true\ndeployment = "portraits"\n')).toEqual([]);
});
