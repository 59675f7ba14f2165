// The files of two rows answer 404 until the rows end without them. Then `retry` fetches the files, and buys nothing.

import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';
import { deploymentsOf } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const DEPLOYMENTS = deploymentsOf({ runSeconds: 0.2 });
const ROWS = 2;

describe('rows whose files are away for minutes', () => {
  const stage = freshStage();

  it('are named with what they cost, and retry fetches them without another run', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS)]);
    await stage.setFaults({ 'lose-file': 1 });
    const first = await stage.run(['run', stage.sheet(ROWS), '-d', 'portraits']);
    expect(first.stderr).toMatch(/2 rows paid for and not kept/);
    for (const { outcome, reason } of stage.results())
      expect([outcome, reason]).toEqual(['failed', expect.stringMatching(/^outputs_missing: .*404/)]);
    await stage.setFaults({ 'lose-file': 0 });
    const again = await stage.run(['retry', basename(stage.batch())]);
    expect([again.code, again.stderr]).toEqual([0, expect.stringMatching(/2 rows, 2 runs, 0 bought twice/)]);
    for (const { outcome } of stage.results()) expect(outcome).toBe('succeeded');
    expectOneRunPerRow(await stage.truth(), ROWS);
  }, 600_000);
});
