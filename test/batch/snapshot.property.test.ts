import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { progress } from '../../src/batch/shown/progress.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../src/batch/state/snapshot.ts';
import type { State } from '../../src/batch/state/state.ts';
import { step } from '../../src/batch/step.ts';
import type { Event } from '../../src/batch/events.ts';
import { problemsOf } from './invariants.ts';
import { perform, anyParams, faultyActions } from './random-actions.ts';
import { World } from './world.ts';

const encoded = (state: State): string => JSON.stringify(snapshot(state));
/** The bytes between the brackets. */
const listBytes = (list: readonly unknown[]): number => Buffer.byteLength(JSON.stringify(list)) - 2;
const travelled = (state: State): State => restore(JSON.parse(encoded(state)) as Snapshot);

/** The sends of a step and the progress after it, without the commands that the next workflow run issues again. */
function stepped(state: State, events: readonly Event[], wallAt: number): unknown {
  const sent = step(state, events, wallAt).filter(({ type }) => type === 'send');
  const { lanes, ended, deferred, unconfirmed, bytes } = state;
  return structuredClone({ sent, lanes, ended, deferred, unconfirmed, bytes, progress: progress(state) });
}

/** Fails all runs, and lets time pass until the waiting rows are sent again. */
const endAll = ({ rows }: State): Event => ({
  type: 'runsCompleted',
  by: 'webhook',
  completions: [...rows.values()].flatMap((row) =>
    row.phase === 'running'
      ? [{ place: row.place, attempt: row.attempt, runId: row.runId, outcome: 'failed' as const }]
      : [],
  ),
});

describe('snapshot', () => {
  it('a snapshot restores the state that it was made of, and after a step both still nextText and send the same', () => {
    fc.assert(
      fc.property(anyParams, faultyActions(80), (given, actions) => {
        const world = new World(given);
        perform(world, actions);
        world.apply({ type: 'stopSending' });
        while (world.sends.length > 0) world.answer(0, ['accepted', 'dropped', 'throttled']);
        const { state, wallAt } = world;
        fc.pre(maySnapshot(state));
        state.isStopping = false;
        const again = travelled(state);
        expect(problemsOf(again)).toEqual([]);
        expect(encoded(again)).toBe(encoded(state));
        expect(progress(again)).toEqual(progress(state));
        const failed = endAll(state);
        state.wakeAt = again.wakeAt;
        expect(stepped(again, [failed], wallAt + 5)).toEqual(stepped(state, [failed], wallAt + 5));
      }),
      { numRuns: 100 },
    );
  });

  it('a snapshot takes no more bytes for rows and parts than the state has counted, whatever reasons they keep', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc
        .constantFrom('"', '\\', '\n', '\u0000', '\ud800', '😀', 'é')
        .map((character) => character.repeat(400)),
    );
    fc.assert(
      fc.property(
        anyParams,
        faultyActions(60),
        fc.array(text, { minLength: 1, maxLength: 8 }),
        (given, actions, texts) => {
          const world = new World(given);
          let count = 0;
          const nextText = (): string => texts[(count += 1) % texts.length] ?? '';
          world.edit = (event) => withReasons(event, nextText);
          for (const { act } of actions) {
            act(world);
            if (!maySnapshot(world.state)) continue;
            const { rows, parts } = snapshot(world.state);
            expect(listBytes(rows) + listBytes(parts)).toBeLessThanOrEqual(world.state.bytes);
          }
          expect(world.problems).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** The same event with different reasons. */
function withReasons(event: Event, nextText: () => string): Event {
  if (event.type === 'runsCompleted')
    return { ...event, completions: event.completions.map((one) => ({ ...one, reason: nextText() })) };
  if (event.type === 'runsOverdue')
    return { ...event, runs: event.runs.map((one) => ({ ...one, reason: nextText() })) };
  if (event.type !== 'groupEnded') return event;
  const results = event.results.map((one) =>
    one.result === 'accepted' ? one : { ...one, reason: nextText() },
  );
  return { ...event, results };
}
