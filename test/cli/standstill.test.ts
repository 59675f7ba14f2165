import { describe, expect, it } from 'vitest';
import { Standstill } from '../../src/cli/follow/follow.ts';

const AWAY = 'Temporal is away';
const ALONE = 'no worker takes its tasks';

describe('a batch that does not advance', () => {
  it('is reported once for each reason, however long it takes', () => {
    const notes: string[] = [];
    const standstill = new Standstill((text) => notes.push(text), 0);
    for (let now = 0; now < 600_000; now += 500) standstill.goesOn(now < 300_000 ? ALONE : AWAY, now);
    expect(notes).toEqual([`the batch does not advance: ${ALONE}`, `the batch does not advance: ${AWAY}`]);
  });

  it('is reported again after it advanced', () => {
    const notes: string[] = [];
    const standstill = new Standstill((text) => notes.push(text), 0);
    standstill.goesOn(ALONE, 14_999);
    standstill.over(15_000);
    standstill.goesOn(ALONE, 20_000);
    standstill.goesOn(ALONE, 30_000);
    standstill.over(31_000);
    standstill.over(32_000);
    standstill.goesOn(ALONE, 47_000);
    const said = `the batch does not advance: ${ALONE}`;
    expect(notes).toEqual([said, 'the batch advances again', said]);
  });
});
