import { describe, expect, it, vi } from 'vitest';
import { problem } from '../../src/errors/error.ts';
import { GO } from './doors.ts';
import { sceneOf } from './scene.ts';
import { DOORS, TABLE, type Door, type Question } from './table.ts';

// Waiting for a server that is not there takes five seconds.
vi.mock(import('../../src/temporal/connect.ts'), async (original) => ({
  ...(await original()),
  connectClient: async (at) => {
    throw problem('E401', { address: at.address, from: at.from, reason: 'nobody is there' });
  },
}));

// More than 100,000 rows take too long to lay out at each door.
vi.mock(import('../../src/batches/questions.ts'), async (original) => {
  const real = await original();
  return { ...real, manyRows: (file) => real.manyRows(file, 26) };
});

const IN_WORDS: Readonly<Record<Question, RegExp>> = {
  guesses: /guess \?/,
  earlier: /are done in old/,
  open: /still open in old/,
  undelivered: /was paid for in old, but the files were not delivered/,
  moved: /1 of 2 rows is done in old with another photo: only its address differs/,
  elsewhere: /in another folder/,
  changed: /with an earlier version of/,
  ofBatch: /these are rows of old/,
  otherGpu: /asks? for H100/,
  manyRows: /make 27 rows of old.csv/,
  lowBudget: /the cost limit \$0\.01 is less than the \S+ that one run on A10G may cost/,
  outsideFiles: /names 1 file outside of its folder/,
  changedRows: /would change/,
  boughtBefore: /paid for/,
  boughtSince: /paid for in other/,
  settings: /ignored: .*reserve/,
};

/** Every door with every question that it can meet. */
const CASES = (Object.keys(TABLE) as Question[]).flatMap((question) =>
  (Object.keys(DOORS) as Door[]).flatMap((door) => {
    const cell = TABLE[question][door];
    if ('never' in cell) return [];
    const goesOn = cell.answer && door !== 'watch' ? `, and goes on with ${cell.answer}` : '';
    return [{ question, door, where: DOORS[door], ...cell, goesOn }];
  }),
);

describe('what may spend money otherwise than its user means', () => {
  it.each(CASES)('$question: $where $does$goesOn', async ({ question, door, does, code, goesOn }) => {
    const scene = await sceneOf(question, door);
    const done = await GO[door]({ scene, question, isAnswered: false });
    const isSo = does === 'says' ? IN_WORDS[question].test(done.said) : done.code === code;
    expect([isSo, done]).toEqual([true, done]);
    if (goesOn === '') return;
    const answered = await GO[door]({ scene, question, isAnswered: true });
    expect([['E401', undefined].includes(answered.code), answered]).toEqual([true, answered]);
  });
});
