import { describe, expect, it } from 'vitest';
import { checkSettings } from '../../src/batches/batch-spec.ts';
import { poolLine, poolLines } from '../../src/cli/pool/pool.ts';
import { loadConfig } from '../../src/host/settings/config.ts';

const TOTALS = { pool: 'gpus', size: 64, batches: 3, used: 60, charged: 64, members: [] };

describe('pool', () => {
  it('says slots, batches and what is in use', () => {
    expect(poolLine(TOTALS)).toBe('gpus: 64 slots, 3 batches, 60 in use');
    expect(poolLine({ ...TOTALS, size: 1, batches: 1, used: 1_000 })).toBe(
      'gpus: 1 slot, 1 batch, 1,000 in use',
    );
    // Another user may have made the pool.
    expect(poolLine({ ...TOTALS, pool: 'g\u001B[2Jpus' })).not.toContain('\u001B');
  });

  it('says how many batches wait because it is full', () => {
    const waiting = (turnedAway: number) => poolLines({ ...TOTALS, turnedAway }).at(-1);
    expect(poolLines(TOTALS)).toHaveLength(1);
    expect(waiting(1)).toMatch(/^ {2}1 more batch waits without slots: a pool has room for 200 batches/);
    expect(waiting(3)).toMatch(/^ {2}3 more batches wait /);
  });

  it('must exist before a batch joins it', async () => {
    const names: string[] = [];
    const show = async (name: string) => {
      names.push(name);
      return TOTALS;
    };
    const reach = async () => ({ pools: { show } });
    const where = { config: loadConfig({}), isCluster: () => true, reach };
    await checkSettings({}, where);
    await checkSettings({ pool: 'none' }, where);
    await checkSettings({ pool: 'gpus' }, where);
    expect(names).toEqual(['gpus']);
  });
});
