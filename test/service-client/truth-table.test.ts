import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureAll, pageOf, type Measured } from './truth-table.ts';

const TABLE = join(import.meta.dirname, 'truth-table.txt');

describe('the result of a POST', () => {
  let results: readonly Measured[] = [];
  beforeAll(async () => {
    results = await measureAll();
  });

  const of = (wanted: (one: Measured) => boolean): readonly Measured[] => results.filter(wanted);

  it('is "not sent" only if the server received nothing of the request', () => {
    const notSent = of(({ class: postClass }) => postClass === 'not-sent');
    expect(notSent.length).toBeGreaterThan(15);
    expect(notSent.filter(({ isWritten, got }) => isWritten || got !== 'nothing')).toEqual([]);
  });

  it('is "not sent" whenever the first byte was not written', () => {
    const unwritten = of(({ isWritten }) => !isWritten);
    expect(
      unwritten.filter(({ class: postClass, facts }) => postClass !== 'not-sent' || facts.begun),
    ).toEqual([]);
    expect(of(({ isWritten, facts }) => isWritten !== facts.begun)).toEqual([]);
  });

  it('is accepted only with a run id', () => {
    const accepted = of(({ class: postClass }) => postClass === 'accepted');
    expect(accepted.length).toBeGreaterThan(5);
    expect(accepted.filter(({ facts }) => facts.runId === undefined)).toEqual([]);
  });

  it('is unconfirmed whenever the server read the whole request and sent no readable answer', () => {
    const unanswered = of(({ got, facts }) => got === 'whole' && facts.status === undefined);
    expect(unanswered.length).toBeGreaterThan(30);
    expect(unanswered.filter(({ class: postClass }) => postClass !== 'unconfirmed')).toEqual([]);
  });

  it('has the same error message whether the server received everything or nothing, so messages prove nothing', () => {
    const messagesWhere = (wanted: Measured['got']): Set<string | undefined> =>
      new Set(of(({ got, isWritten }) => isWritten && got === wanted).map(({ facts }) => facts.error));
    expect([...messagesWhere('whole')].filter((message) => messagesWhere('nothing').has(message))).toContain(
      'read ECONNRESET',
    );
  });

  it('is exactly as in truth-table.txt', async () => {
    await expect(pageOf(results)).toMatchFileSnapshot(TABLE);
  });
});
