// comfy-api-proxy from PyPI, as it is, in front of a stand-in for ComfyUI, whose own record says what was executed.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonWith } from '../stage/python.ts';
import { freePort } from '../stage/free-port.ts';
import { Stage, until } from '../stage/stage.ts';
import { portrait } from './own-service.ts';
import { startStandIn, type StandInProcess } from './stand-in-process.ts';

const { missing, program } = pythonWith('comfy-api-proxy', { comfy_api_proxy: 'comfy-api-proxy==0.1.6' });
const ROWS = 30;

let stage: Stage;
let gpu: StandInProcess;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  stage = new Stage();
  gpu = await startStandIn(stage.path('gpu'), children);
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await stage.close();
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

/** The outcomes of a batch during which the proxy dies at each of these counts of executed rows. */
async function batchWith(forget: boolean, diesAt: readonly number[]): Promise<readonly unknown[]> {
  const proxy = new Proxy(await freePort());
  await until(proxy.answers, 'it answers', 60_000);
  stage.environment = { ...stage.environment, RUNSHEET_HOME: stage.path('home') };
  const workflow = stage.write('portrait_api.json', JSON.stringify(portrait({ seconds: 0.2 })));
  const lines = Array.from({ length: ROWS }, (_, at) => `fox ${at},${at}`);
  const sheet = stage.write('sheet.csv', `prompt,3.seed\n${lines.join('\n')}\n`);
  const command = stage.start(['run', sheet, '--workflow', workflow, '--comfy-api', proxy.url]);
  for (const count of diesAt) {
    const hasEnded = (): boolean => command.child.exitCode !== null;
    await until(() => gpu.executed().length >= count || hasEnded(), `${count} rows are executed`, 120_000);
    await proxy.restart(forget);
  }
  const { code, stderr } = await command.ended;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  return stage.results().map(({ outcome }) => outcome);
}

/** The rows that were executed more than once, and whether the log of each one's run says so. */
function repeated(): readonly (readonly [row: string, isSaid: boolean])[] {
  const database = new DatabaseSync(stage.path('home', 'local-service.db'), { readOnly: true });
  const runs = database.prepare('SELECT id, state FROM run').all() as { id: string; state: string }[];
  database.close();
  const executed = gpu.executed().map(({ graph }) => ({
    row: String(graph['3']?.inputs['text']),
    folder: String(graph['9']?.inputs['filename_prefix']),
  }));
  const rows = Map.groupBy(executed, ({ row }) => row);
  expect([rows.size, runs.length]).toEqual([ROWS, ROWS]);
  return [...rows].flatMap(([row, [first, ...more]]) => {
    const run = runs.find(({ id }) => first?.folder.includes(id));
    return more.length === 0 ? [] : [[row, / again|another key/.test(run?.state ?? '')] as const];
  });
}

describe.skipIf(missing !== undefined)(`comfy-api-proxy (missing: ${missing ?? 'nothing'})`, () => {
  it.each([
    ['its state kept', false],
    ['its state lost', true],
  ])(
    'is killed five times with %s: no row is lost, and only a run that it was handing on is executed again, and says so',
    async (_, forget) => {
      const outcomes = await batchWith(forget, [3, 8, 13, 18, 23]);
      expect(outcomes).toEqual(Array.from({ length: ROWS }, () => 'succeeded'));
      const again = repeated();
      expect(again.filter(([, isSaid]) => !isSaid)).toEqual([]);
      expect(again.length).toBeLessThanOrEqual(5);
    },
  );
});
