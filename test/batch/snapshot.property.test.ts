import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { progress } from '../../src/batch/progress.ts';
import { maySnapshot, restore, snapshot, type Snapshot } from '../../src/batch/snapshot.ts';
import type { State } from '../../src/batch/state.ts';
import { step } from '../../src/batch/step.ts';
import type { Event } from '../../src/batch/events.ts';
import { problemsOf } from './invariants.ts';
import { happen, wildParams, wildStory } from './story.ts';
import { World } from './world.ts';

const encoded = (state: State): string => JSON.stringify(snapshot(state));
/** The bytes of what stands between the brackets. */
const listBytes = (list: readonly unknown[]): number => Buffer.byteLength(JSON.stringify(list)) - 2;
const travelled = (state: State): State => restore(JSON.parse(encoded(state)) as Snapshot);

/** What a step sends, and how the batch stands after it. What the next workflow run asks for again is left out. */
function stepped(state: State, events: readonly Event[], wallAt: number): unknown {
  const sent = step(state, events, wallAt).filter(({ type }) => type === 'send');
  const { waiting, ended, deferred, unconfirmed, bytes } = state;
  return structuredClone({ sent, waiting, ended, deferred, unconfirmed, bytes, progress: progress(state) });
}

/** All runs fail, and a while later what waits goes again. */
const endAll = ({ rows }: State): Event => ({
  type: 'runsCompleted',
  by: 'webhook',
  completions: [...rows.values()].flatMap((row) =>
    row.phase === 'running'
      ? [{ row: row.row, attempt: row.attempt, runId: row.runId, outcome: 'failed' as const }]
      : [],
  ),
});

describe('snapshot', () => {
  it('a snapshot restores the state that it was made of, and after a step both still say and send the same', () => {
    fc.assert(
      fc.property(wildParams, wildStory(80), (given, deeds) => {
        const world = new World(given);
        happen(world, deeds);
        world.tell({ type: 'stopSending' });
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
      { numRuns: 500 },
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
        wildParams,
        wildStory(60),
        fc.array(text, { minLength: 1, maxLength: 8 }),
        (given, deeds, texts) => {
          const world = new World(given);
          let said = 0;
          const say = (): string => texts[(said += 1) % texts.length] ?? '';
          world.edit = (event) => withReasons(event, say);
          for (const { act } of deeds) {
            act(world);
            if (!maySnapshot(world.state)) continue;
            const { rows, parts } = snapshot(world.state);
            expect(listBytes(rows) + listBytes(parts)).toBeLessThanOrEqual(world.state.bytes);
          }
          expect(world.problems).toEqual([]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

/** The same event with other reasons. */
function withReasons(event: Event, say: () => string): Event {
  if (event.type === 'runsCompleted')
    return { ...event, completions: event.completions.map((one) => ({ ...one, reason: say() })) };
  if (event.type === 'runsOverdue')
    return { ...event, runs: event.runs.map((one) => ({ ...one, reason: say() })) };
  if (event.type !== 'groupEnded') return event;
  const results = event.results.map((one) => (one.result === 'accepted' ? one : { ...one, reason: say() }));
  return { ...event, results };
}
