// comfy-api-proxy from PyPI, as it is, in front of a stand-in for ComfyUI, which knows what was executed.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonWith } from '../stage/python.ts';
import { freePort } from '../stage/free-port.ts';
import { Stage, until } from '../stage/stage.ts';
import { openStandIn, portrait } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

const { missing, program } = pythonWith('comfy-api-proxy', { comfy_api_proxy: 'comfy-api-proxy==0.1.6' });
const ROWS = 30;

let stage: Stage;
let gpu: ComfyStandIn;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  stage = new Stage();
  gpu = await openStandIn();
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await stage.close();
  await gpu.kill();
});

class Proxy {
  readonly url: string;
  readonly #args: readonly string[];
  #child: ChildProcess;

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#args = ['run', '--comfyui', gpu.url, '--port', String(port), '--state-dir', stage.path('state')];
    this.#child = this.#start();
  }

  #start(): ChildProcess {
    const main = 'from comfy_api_proxy.cli import main; main()';
    const child = spawn(program, ['-c', main, ...this.#args], { stdio: 'ignore' });
    children.add(child);
    return child;
  }

  answers = (): Promise<boolean> =>
    fetch(`${this.url}/api/v2/health`).then(
      ({ ok }) => ok,
      () => false,
    );

  /** Dies in the middle of whatever it does. */
  async restart(forget: boolean): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
    if (forget) rmSync(stage.path('state'), { recursive: true });
    this.#child = this.#start();
    await until(this.answers, 'it answers');
  }
}

/** A batch during which the proxy dies five times: while runs execute, and twice when it has just handed a run on. */
async function batchWith(forget: boolean): Promise<readonly ResultRow[]> {
  const proxy = new Proxy(await freePort());
  await until(proxy.answers, 'it answers', 60_000);
  stage.environment = { ...stage.environment, RUNSHEET_HOME: stage.path('home') };
  const workflow = stage.write('portrait_api.json', JSON.stringify(portrait({ seconds: 0.2 })));
  const lines = Array.from({ length: ROWS }, (_, at) => `fox ${at},${at}`);
  const sheet = stage.write('sheet.csv', `prompt,3.seed\n${lines.join('\n')}\n`);
  const command = stage.start(['run', sheet, '--workflow', workflow, '--comfy-api', proxy.url]);
  for (const [count, isHandingOn] of DEATHS) {
    // Two unknown rows keep the only two places for two minutes.
    await until(() => gpu.executions.length >= count, `${count} rows are executed`, 300_000);
    const handed = once(gpu, 'faulty');
    if (isHandingOn) gpu.answerNext('POST /prompt', { done: true, with: 'silence' });
    if (isHandingOn) await handed;
    await proxy.restart(forget);
  }
  await command.ended;
  return rowsOf(stage.results());
}

const DEATHS = [
  [3, false],
  [8, true],
  [13, false],
  [18, true],
  [23, false],
] as const;

type ResultRow = {
  readonly outcome: string;
  readonly executions: number;
  readonly log: string;
};

function rowsOf(results: readonly Readonly<Record<string, string>>[]): readonly ResultRow[] {
  const database = new DatabaseSync(stage.path('home', 'local-service.db'), { readOnly: true });
  const runs = database.prepare('SELECT inputs, state FROM run').all() as { inputs: string; state: string }[];
  database.close();
  expect([results.length, runs.length]).toEqual([ROWS, ROWS]);
  return results.map(({ outcome = '', prompt }) => {
    const run = runs.find(({ inputs }) => inputs.includes(`"${prompt}"`));
    const executed = gpu.executions.filter(({ graph }) => graph['3']?.inputs['text'] === prompt);
    return { outcome, executions: executed.length, log: run?.state ?? '' };
  });
}

describe.skipIf(missing !== undefined)(`comfy-api-proxy (missing: ${missing ?? 'nothing'})`, () => {
  it.each([
    ['its state kept', false],
    ['its state lost', true],
  ])(
    'is killed five times with %s: every row is executed once, and those that it was handing on are unknown, and say so',
    async (_, forget) => {
      const rows = await batchWith(forget);
      expect(rows.map(({ executions }) => executions)).toEqual(rows.map(() => 1));
      const lost = rows.filter(({ outcome }) => outcome !== 'succeeded');
      expect(lost.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
      expect(lost.filter(({ log }) => !log.includes('it is not sent again'))).toEqual([]);
    },
  );
});
