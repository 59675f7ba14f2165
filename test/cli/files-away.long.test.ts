// The host of the output files is away in mid-batch: the batch pauses with that reason, and goes on when it is back.

import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setTimeout as wait } from 'node:timers/promises';
import { finished, IS_LONG } from '../stage/outage.ts';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const ROWS = 200;
const AWAY_MS = IS_LONG ? 300_000 : 30_000;
const DEPLOYMENTS = deploymentsOf({ concurrencyLimit: 10, runSeconds: 0.5 });

describe('a batch whose file host is unavailable', () => {
  const stage = freshStage();

  it('pauses, fails no row, and continues automatically', async () => {
    await stage.startAll(DEPLOYMENTS);
    const running = stage.start(['run', stage.sheet(ROWS), '-d', 'portraits', '-c', '10']);
    await until(async () => (await stage.truth()).length >= 60, 'it is under way');
    await stage.setFaults({ 'away-file': 1 });
    const paused = await running.ended;
    expect(paused.code).toBe(8);
    expect(paused.stderr).toMatch(/is paused: outputs cannot be fetched: .* answered 503/);
    await wait(AWAY_MS);
    await stage.setFaults({ 'away-file': 0 });
    const ended = await finished(stage, basename(stage.batch()));
    expect(ended.code).toBe(0);
    expect(stage.results().length).toBe(ROWS);
    expectOneRunPerRow(await stage.truth(), ROWS);
    for (const { outcome, outputs } of stage.results())
      expect([outcome, outputs]).toEqual(['succeeded', expect.stringMatching(/1\.png/)]);
  });
});
