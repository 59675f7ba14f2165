// Finished batches are replayed at other limits, and then really run so on the local run service.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../stage/stage.ts';
import { compare, differenceOf, type Compared } from './real-batches.ts';
import { SHAPES } from './shapes.ts';

describe.each(SHAPES)('the replay of the batch $name', (shape) => {
  const stage = new Stage();
  let compared: Compared;
  beforeAll(async () => {
    compared = await compare(stage, shape);
  }, 300_000);
  afterAll(() => stage.close());

  it('says within 10 % what time the other batch then takes, at the start latency that the other batch had', () => {
    expect(compared.saidWithItsLatencies.seconds, 'seconds').toBeGreaterThan(5);
    expect(differenceOf(compared, 'seconds'), JSON.stringify(compared)).toBeLessThan(0.1);
  });

  it('says within 5 % what it then costs', () => {
    expect(differenceOf(compared, 'cost_usd'), JSON.stringify(compared)).toBeLessThan(0.05);
  });
});
