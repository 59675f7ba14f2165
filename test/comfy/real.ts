// The ordeal on real ComfyUIs: npm run comfyui:real -- --comfyui PORT=OUTPUT --comfyui PORT=OUTPUT --start 'COMMAND {port} {output}'
// Each is started by that command, and killed and started again meanwhile. Copy test/comfy/nodes.py into their custom_nodes:
// it also makes them write what they execute into their folders of results, which are empty at first.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Stage, until } from '../stage/stage.ts';
import { ordeal, type Machine, type Victim } from './ordeal.ts';

const { values } = parseArgs({
  options: {
    comfyui: { type: 'string', multiple: true, default: [] },
    start: { type: 'string', default: '' },
    rows: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '16' },
    keep: { type: 'boolean', default: false },
  },
});
const children = new Set<ChildProcess>();

function started(port: string, output: string): ChildProcess {
  const child = spawn(values.start.replace('{port}', port).replace('{output}', output), {
    shell: true,
    detached: true,
    stdio: 'ignore',
  });
  children.add(child);
  return child;
}

/** Detached, so that the whole group can be killed. */
async function killed(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}

async function machineOf(text: string): Promise<Machine> {
  const [port = '', output = ''] = text.split('=');
  let child = started(port, output);
  const url = `http://127.0.0.1:${port}`;
  const answers = (): Promise<boolean> =>
    fetch(`${url}/queue`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(answers, `${url} answers`, 180_000);
  return {
    url,
    output,
    restart: async () => {
      await killed(child);
      child = started(port, output);
    },
  };
}

const ORDER: readonly Victim[] = ['server', 'service', 'worker', 'server', 'command'];
const stage = new Stage();
try {
  console.error(stage.folder);
  const machines = await Promise.all(values.comfyui.map(machineOf));
  const figures = await ordeal(stage, {
    machines,
    rows: Number(values.rows),
    seconds: 0.3,
    victims: Array.from({ length: Number(values.kills) }, (_, at) => ORDER[at % ORDER.length] ?? 'server'),
    gapMs: { least: 3_000, spread: 6_000 },
    promptsPerLife: 15,
    seed: Number(values.seed),
    say: (text) => console.error(new Date().toISOString(), text),
  });
  console.log(JSON.stringify(figures, undefined, 2));
  const { wrong, unexplained, others: otherRuns, results, succeeded, rowsBoughtTwice } = figures;
  const isRight =
    [...wrong, ...unexplained, ...otherRuns.wrong].length === 0 &&
    rowsBoughtTwice === 0 &&
    results === succeeded &&
    results === Number(values.rows);
  process.exitCode = isRight ? 0 : 1;
} finally {
  await Promise.all([...children].map(killed));
  if (!values.keep || process.exitCode === 0) await stage.close();
}
