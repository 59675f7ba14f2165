import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { TimerQueue } from '../../src/run-service/service-time.ts';
import { FifoQueue } from '../../src/run-service/fifo-queue.ts';

it('a queue behaves like a plain array for all sequences of operations', () => {
  const act = fc.oneof(
    { weight: 3, arbitrary: fc.constant('join' as const) },
    { weight: 3, arbitrary: fc.constant('next' as const) },
    { weight: 1, arbitrary: fc.nat(400) },
  );
  fc.assert(
    fc.property(fc.array(act, { minLength: 400, maxLength: 800 }), (acts) => {
      const line = new FifoQueue<number, number>();
      let model: number[] = [];
      let joined = 0;
      for (const step of acts) {
        if (step === 'join') line.join(joined, joined);
        const gave = step === 'next' ? line.next() : typeof step === 'number' && line.leave(step);
        const [expected, left] = afterOn(model, step, joined);
        if (step === 'join') joined++;
        model = left;
        expect([gave, line.size, line.first]).toEqual([expected, model.length, model[0]]);
      }
    }),
  );
});

/** The model's result of an operation, and its next state. */
function afterOn(model: number[], act: 'join' | 'next' | number, joins: number): [unknown, number[]] {
  if (act === 'join') return [false, [...model, joins]];
  if (act === 'next') return [model[0], model.slice(1)];
  return [model.includes(act), model.filter((key) => key !== act)];
}

it('a timer queue returns due entries by time and then by insertion, without cancelled ones', () => {
  const entry = fc.record({ atMs: fc.nat(50), calledOff: fc.boolean() });
  fc.assert(
    fc.property(fc.array(entry), fc.nat(60), (entries, nowMs) => {
      const agenda = new TimerQueue();
      const done: number[] = [];
      const cancels = entries.map(({ atMs }, index) => agenda.enter(atMs, () => done.push(index)));
      entries.forEach(({ calledOff }, index) => calledOff && cancels[index]?.());
      for (let work = agenda.takeDue(nowMs); work !== undefined; work = agenda.takeDue(nowMs)) work();
      const expected = entries
        .map(({ atMs, calledOff }, index) => ({ atMs, calledOff, index }))
        .filter(({ atMs, calledOff }) => !calledOff && atMs <= nowMs)
        .sort((a, b) => a.atMs - b.atMs || a.index - b.index);
      expect(done).toEqual(expected.map(({ index }) => index));
    }),
  );
});
