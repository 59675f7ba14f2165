// Pastes commands into one shell, whose home and current folder belong to a test.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { installedIn, ownEnvironment } from '../stage/command.ts';
import { KEY, type Stage } from '../stage/stage.ts';
import { valueFor } from './pasted-pages.ts';
import { ROOT } from './written.ts';

/** Commands that do not run here, by their beginning or by a part between two stars, and why. */
export const CANNOT: Readonly<Record<string, string>> = {
  'npm start': 'it installs the packages of the clone; test/setup.test.ts has that',
  'npm test': 'it is these tests',
  'npm run demo': 'test/applications/kills.long.test.ts has it',
  'runsheet run prompts.xlsx -d portrait-v3 --key sku --watch': 'test/cli has a sheet that is watched',
  'npm start && npm run build': 'the packages are there, and the test builds',
  'runsheet run examples/lights.csv':
    'the stand-in for ComfyUI lacks its nodes; npm run comfyui:real has them',
  'runsheet completion fish': 'it is for another shell',
  '*…*': 'it has a hole that the reader fills',
};

/** Commands that run until they are stopped, by their beginning, and the line that reports them ready. */
const GOES_ON: Readonly<Record<string, string>> = {
  'runsheet dev': 'Ctrl-C ends',
  '*runsheet worker*': 'worker at',
  'runsheet service': 'Ctrl-C stops it',
  'node bin/runsheet.mjs service': 'Ctrl-C stops it',
  '*examples/worker.ts*': 'ready',
  '*server start-dev*': 'Server: ',
};

export type Pasted = {
  readonly command: string;
  /** Run before it, unseen. */ readonly before?: string | undefined;
};
export type End = { readonly code: number; readonly output: string };

const PRELUDE = `shopt -s expand_aliases
newest() { basename "$(ls -td batches/*/ | head -1)"; }
trap 'kill $(jobs -p)' EXIT`;

export async function paste(stage: Stage, commands: readonly Pasted[]): Promise<readonly End[]> {
  const steps = commands.flatMap(({ command, before = '' }, at) => {
    stage.write(`steps/${at}`, command.replaceAll('<batch>', '"$(newest)"'));
    const [text, out, code] = ['', '.out', '.code'].map((end) => `steps/${at}${end}`);
    const ready = valueFor(GOES_ON, command);
    const pasted = `eval "$(cat ${text})" > ${out} 2>&1 < /dev/null`;
    const waits = `timeout 240 grep -m1 -qE '${ready}' <(tail -n +1 -F ${out} 2> /dev/null)`;
    return [before, ready === undefined ? pasted : `${pasted} &\n${waits}`, `echo $? > ${code}`];
  });
  const script = stage.write('steps/all.sh', `${[PRELUDE, ...steps].join('\n')}\n`);
  const home = stage.path('home');
  for (const name of ['.secrets', 'Desktop']) mkdirSync(join(home, name), { recursive: true });
  for (const name of ['runs', 'staging', 'production']) stage.write(`home/.secrets/${name}`, KEY);
  symlinkSync(join(homedir(), '.cache'), join(home, '.cache'));
  // The folder is as a clone to those who paste `node bin/runsheet.mjs`.
  for (const name of ['bin', 'examples']) symlinkSync(join(ROOT, name), stage.path(name));
  const bin = dirname(installedIn(stage.path('path')));
  const env = {
    ...ownEnvironment(),
    HOME: home,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`,
  };
  await new Promise<void>((done) => {
    execFile('bash', [script], { cwd: stage.folder, env }, () => done());
  });
  const read = (name: string): string =>
    existsSync(stage.path('steps', name)) ? readFileSync(stage.path('steps', name), 'utf8') : '';
  return commands.map((_, at) => ({ code: Number(read(`${at}.code`) || -1), output: read(`${at}.out`) }));
}
