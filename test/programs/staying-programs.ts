// Programs that stay, for tests: each reads its runs as lines and does what the test says.

import { writeFileSync } from 'node:fs';
import type { ProgramService } from './program-service.ts';

/** Notes each load in `loaded` and each run in `begun`. `body`: statements for each run, which may await. */
export const stayingScript = (body: string, load = 'answer({ ready: true });'): string => `
const { appendFileSync, copyFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { spawn } = require('node:child_process');
const { setTimeout: wait } = require('node:timers/promises');
const at = process.env.RUNSHEET_FOLDER;
const note = (file, text) => appendFileSync(at + '/' + file, text + '\\n');
const answer = (line) => appendFileSync(process.env.RUNSHEET_ANSWERS, JSON.stringify(line) + '\\n');
const picture = (run) => copyFileSync(at + '/whole.png', run.dir + '/picture.png');
const untilFile = async (name) => { while (!existsSync(at + '/' + name)) await wait(10); };
let isFirst = true;
(async () => {
  note('loaded', process.pid);
  ${load}
  const lines = require('node:readline').createInterface({ input: process.stdin });
  for await (const line of lines) {
    const run = JSON.parse(line);
    note('begun', run.id);
    ${body}
    isFirst = false;
  }
  note('ended', process.pid);
  process.exit(0);
})();
`;

/** The body of a program that keeps to the rules. */
export const DRAWS = 'picture(run); answer({ id: run.id, ok: true });';

type Named = NonNullable<Parameters<ProgramService['name']>[1]>;

/** Names a program that stays. */
export function nameStaying(
  scene: ProgramService,
  script: string,
  { file = 'stays.cjs', request, ...more }: Named & { readonly file?: string } = {},
): Promise<string> {
  writeFileSync(scene.path(file), script);
  // Without a shell above it, which would keep its input open.
  const command = `exec ${process.execPath} ${file}`;
  return scene.name(command, { ...more, request: { ...request, stays: true } });
}
