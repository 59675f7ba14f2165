// GPUs of one's own have no price, so nothing about a batch on them shows a cost, not even 0.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openGround } from '../stage/executors.ts';
import { Stage } from '../stage/stage.ts';

it('no document, file or line about a batch on own GPUs shows a cost, also while it runs', async () => {
  const stage = new Stage();
  onTestFinished(() => stage.close());
  await stage.temporal();
  await using _ = await openGround('comfyui', stage, 2, [{ name: 'portraits', seconds: 0.1 }]);
  await stage.worker();
  const sheet = stage.sheet(4);
  const run = [sheet, '-d', 'portraits'];
  const a = (await stage.runHere(['run', ...run, '--canary', '1', '--yes'])).stdout.trim();
  const b = (await stage.runHere(['run', ...run, '--again'])).stdout.trim();
  const batches = [basename(a), basename(b)];
  const json = ['-o', 'json'];
  const commands = [
    ['submit', ...run, '--again', ...json],
    ['plan', ...run, '--again', ...json],
    ['plan', ...run, '--again'],
    ...batches.map((batch) => ['status', batch, ...json]),
    ['verify', batches[0] ?? ''],
    ['rows', batches[0] ?? '', ...json],
    ['events', batches[0] ?? '', '--rows', '-o', 'jsonl'],
    ['compare', ...batches, ...json],
  ];
  const shown = [readFileSync(`${a}/summary.json`, 'utf8'), readFileSync(`${a}/results.jsonl`, 'utf8')];
  for (const command of commands) {
    const { code, stdout, stderr } = await stage.runHere(command);
    expect([command, code, stderr]).toEqual([command, 0, expect.anything()]);
    shown.push(stdout, stderr);
  }
  expect(shown.join('\n').match(/.*(usd\w*"?: ?\d|\$\d|cost +nothing).*/gi) ?? []).toEqual([]);
});
