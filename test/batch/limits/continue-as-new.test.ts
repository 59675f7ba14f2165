import { describe, expect, it } from 'vitest';
import { maySnapshot } from '../../../src/batch/state/snapshot.ts';
import { running } from '../scenes.ts';

describe('continue-as-new', () => {
  it('a batch that is to continue as new sends nothing more, so that no group keeps it back, and goes on afterwards', () => {
    const world = running({ rows: 10, concurrency: 2 });
    world.apply({ type: 'stopSending' });
    world.finish('run-0', 'succeeded');
    expect(world.sends).toEqual([]);
    expect(maySnapshot(world.state)).toBe(true);
    world.continueAsNew();
    expect(world.sends).toHaveLength(1);
  });
});
