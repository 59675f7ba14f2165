// The ordeal over stand-ins, whose own record says what was executed.

import type { ChildProcess } from 'node:child_process';
import { afterEach, expect, it } from 'vitest';
import { Stage } from '../stage/stage.ts';
import { ordeal } from './ordeal.ts';
import { startStandIn } from './stand-in-process.ts';

const stage = new Stage();
const children = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await stage.close();
});

it('a batch on GPU servers survives the death of every process, and executes only again what died', async () => {
  const machines = [
    await startStandIn(stage.path('gpu-1'), children),
    await startStandIn(stage.path('gpu-2'), children),
  ];
  const figures = await ordeal(stage, {
    machines,
    rows: 60,
    seconds: 0.4,
    victims: ['server', 'service', 'worker', 'server', 'command', 'server', 'command'],
    gapMs: { least: 500, spread: 1_500 },
    promptsPerLife: 2,
    seed: 1,
    say: () => undefined,
  });
  const { kills, filesDeleted, repeated, inVain, others: otherRuns } = figures;
  expect(figures).toMatchObject({
    results: 60,
    succeeded: 60,
    wrong: [],
    rowsBoughtTwice: 0,
    unexplained: [],
    others: { wrong: [] },
  });
  expect(inVain.said).toBe(inVain.counted);
  expect(inVain.counted).toBeGreaterThan(0);
  expect(Object.values(kills).every((times) => times > 0)).toBe(true);
  expect([filesDeleted > 0, otherRuns.done > 0]).toEqual([true, true]);
  expect(repeated.length).toBeLessThanOrEqual(kills.server);
});
