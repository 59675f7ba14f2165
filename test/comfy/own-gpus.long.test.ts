// The ordeal over stand-ins, whose own record says what was executed.

import { once } from 'node:events';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { ordeal, type Machine } from './ordeal.ts';
import type { Executed } from './comfy-process.ts';

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url));
const stage = new Stage();
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await stage.close();
});

type StandIn = Machine & { readonly executed: () => readonly string[] };

async function standIn(name: string): Promise<StandIn> {
  const folder = stage.path(name);
  const start = async (port: string): Promise<{ child: ChildProcess; url: string }> => {
    const child = spawn(process.execPath, [PROGRAM, folder, '--port', port], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.add(child);
    const [url] = (await once(createInterface(child.stdout as NodeJS.ReadableStream), 'line')) as [string];
    return { child, url };
  };
  let { child, url } = await start('0');
  return {
    url,
    output: join(folder, 'output'),
    restart: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      ({ child } = await start(new URL(url).port));
    },
    executed: () => {
      const file = join(folder, 'executions.jsonl');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      const moments = lines.map((line) => JSON.parse(line) as Executed);
      return moments.filter(({ end }) => end === undefined).map(({ prompt_id }) => prompt_id);
    },
  };
}

it('a batch on GPU servers survives the death of every process, and executes only again what died', async () => {
  const machines = [await standIn('gpu-1'), await standIn('gpu-2')];
  const figures = await ordeal(stage, {
    machines,
    rows: 60,
    seconds: 0.4,
    victims: ['server', 'service', 'worker', 'server', 'command', 'server', 'command'],
    gapMs: { least: 500, spread: 1_500 },
    seed: 1,
    say: () => undefined,
  });
  const { kills, filesDeleted, repeated, others } = figures;
  expect(figures).toMatchObject({
    results: 60,
    succeeded: 60,
    wrong: [],
    rowsBoughtTwice: 0,
    unexplained: [],
    others: { wrong: [] },
  });
  expect(Object.values(kills).every((times) => times > 0)).toBe(true);
  expect([filesDeleted > 0, others.done > 0]).toEqual([true, true]);
  const executed = machines
    .flatMap((machine) => machine.executed())
    .filter((id) => !id.startsWith('00000000'));
  const times = Map.groupBy(executed, (id) => id);
  const again = [...times].filter(([, all]) => all.length > 1).map(([id]) => id);
  expect([again.toSorted(), times.size]).toEqual([repeated.toSorted(), 60]);
  expect(again.length).toBeLessThanOrEqual(kills.server);
});
