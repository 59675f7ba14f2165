import { describe, expect, it } from 'vitest';
import { PUBLISH_MS } from '../../../src/batch/decisions/publish.ts';
import { running } from '../scenes.ts';

describe('progress', () => {
  it('progress is published at the first change, then at most twice a second, and the last change is always published', () => {
    const world = running({ rows: 40, concurrency: 40 });
    const before = world.published.length;
    world.pass(PUBLISH_MS);
    for (const at of [0, 1, 2, 3]) world.finish(`run-${at}`, 'succeeded');
    expect(world.published.length - before).toBeLessThan(3);
    world.pass(PUBLISH_MS);
    expect(world.published.at(-1)).toMatchObject({ collecting: 4, running: 36 });
    const { length } = world.published;
    world.pass(PUBLISH_MS - 1);
    expect(world.published).toHaveLength(length);
  });

  it('progress is published immediately when the batch pauses, goes on, acknowledges a command, or has finished', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.apply({ type: 'serviceRead', reason: '401: Revoked token' });
    expect(world.published.at(-1)).toMatchObject({ state: 'paused', acknowledgements: [] });
    world.apply({ type: 'resume', commandId: 'a' });
    expect(world.published.at(-1)).toMatchObject({ state: 'running', acknowledgements: [{ id: 'a' }] });
    world.apply({ type: 'resume', commandId: 'b' });
    expect(world.published.at(-1)).toMatchObject({ acknowledgements: [{ id: 'a' }, { id: 'b' }] });
    world.apply({ type: 'cancel', running: false, commandId: 'c' });
    expect(world.published.at(-1)?.state).toBe('cancelling');
    world.settle();
    expect(world.published.at(-1)).toMatchObject({ state: 'finished', done: 2 });
  });

  it('progress is published by the next workflow run as well', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.apply({ type: 'cancel', running: false, commandId: 'a' });
    const { length } = world.published;
    world.continueAsNew();
    expect(world.published).toHaveLength(length + 1);
    expect(world.published.at(-1)?.acknowledgements).toEqual([{ id: 'a', ok: true }]);
  });

  it('progress is not published for what changes nothing that people see', () => {
    const world = running({ rows: 1, concurrency: 1 });
    world.pass(PUBLISH_MS);
    const { length } = world.published;
    world.apply({ type: 'stopSending' });
    world.pass(5_000);
    expect(world.polls).toHaveLength(1);
    expect(world.published).toHaveLength(length);
  });
});
