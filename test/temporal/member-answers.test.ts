import { describe, expect, it } from 'vitest';
import { readAnswers } from '../../src/temporal/member-answers.ts';

const ANSWER = {
  identity: '7@node-a runsheet/0.1.0',
  version: '0.1.0',
  works: true,
  receives: false,
  deployment: { name: 'cats', build: '1' },
  webhookSecret: 'abc',
  out: '/batches',
  reads: 3,
  writes: 2,
  clockMs: 12.5,
  sees: false,
  storeFault: 'EACCES',
  programs: ['0123456789ab'],
};

describe('the answers of members', () => {
  it('are kept as they are, the last one of each member', () => {
    const later = { ...ANSWER, clockMs: 13 };
    expect(readAnswers([ANSWER, later])).toEqual({ answers: [later], malformed: [] });
    const { deployment: _, storeFault: __, programs: ___, ...least } = ANSWER;
    expect(readAnswers([least])).toStrictEqual({ answers: [{ ...least, programs: [] }], malformed: [] });
  });

  it('of two members with one name are both kept', () => {
    const twin = { ...ANSWER, sees: true };
    expect(readAnswers([ANSWER, twin, ANSWER]).answers).toEqual([ANSWER, twin]);
  });

  it.each([
    ['no object', 7, undefined, 'Invalid input: expected object, received number'],
    ['a clock that is no number', { ...ANSWER, clockMs: '3' }, ANSWER.identity, 'clockMs: '],
    ['a name that is none', { ...ANSWER, identity: [] }, undefined, 'identity: '],
    ['a text without end', { ...ANSWER, out: 'x'.repeat(9_000) }, ANSWER.identity, 'out: '],
  ])('with %s hide no other answer', (_, bad, identity, reason) => {
    const renamed = { ...ANSWER, identity: 'other' };
    expect(readAnswers([bad, renamed])).toEqual({
      answers: [renamed],
      malformed: [{ identity, reason: expect.stringContaining(reason) }],
    });
  });

  it('contain nothing that a terminal obeys', () => {
    const { answers } = readAnswers([{ ...ANSWER, version: '1\n2\u001b[2J', out: '/b\u202e' }]);
    expect(answers).toMatchObject([{ version: '1 2 [2J', out: '/b' }]);
  });
});
