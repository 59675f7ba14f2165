import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { addEnd, alikeText, likenessOf, mostAlike, NO_ENDS } from '../../src/batch/alike-ends.ts';
import { REASON_BYTES } from '../../src/batch/bounds.ts';
import { jsonBytes } from '../../src/options/text/clipped.ts';

const failed = (reason: string) => ({ outcome: 'failed', reason }) as const;
const areAlike = (a: string, b: string): boolean => likenessOf(failed(a)) === likenessOf(failed(b));

describe('two ends of attempts', () => {
  it.each([
    ['CUDA error 700 at step 12', 'CUDA error 701 at step 3'],
    ['run 7f3a-11 was evicted from 10.0.0.7:8188', 'run 90bc-2 was evicted from 10.0.0.9:8188'],
    ['cannot load https://a.example/x.png', 'cannot load https://b.example/y.jpg'],
    [
      "Value not in list: ckpt_name: 'a.safetensors' not in []",
      "Value not in list: ckpt_name: 'b' not in []",
    ],
    ['Invalid image file: cat.png', 'Invalid image file: folder/dog.jpeg'],
    ['OUT of memory', 'out of  memory'],
    ['no file `a b`, sorry', 'no file "c", sorry'],
  ])('are alike: %s, and %s', (a, b) => {
    expect(areAlike(a, b)).toBe(true);
  });

  it.each([
    ['CUDA out of memory', 'node type not found'],
    ["the model can't be loaded", "the picture isn't there"],
    ['the run failed at: KSampler', 'the run failed at: VAEDecode'],
  ])('differ: %s, and %s', (a, b) => {
    expect(areAlike(a, b)).toBe(false);
  });

  it('differ if one failed and the other one timed out, and are alike without a reason', () => {
    expect(likenessOf(failed('away'))).not.toBe(likenessOf({ outcome: 'timed-out', reason: 'away' }));
    expect(likenessOf({ outcome: 'failed' })).toBe(likenessOf({ outcome: 'failed' }));
    expect(likenessOf({ outcome: 'empty', reason: 'a' })).toBe(likenessOf({ outcome: 'empty', reason: 'b' }));
  });

  it('are alike whatever numbers their reasons have', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.uuid(), fc.uuid(), (a, b, c, d) => {
        expect(areAlike(`step ${a} of run ${c} failed`, `step ${b} of run ${d} failed`)).toBe(true);
      }),
    );
  });
});

describe('ends that are counted', () => {
  it('name the most frequent one, with the reason that came last', () => {
    const ends = ['a', 'b', 'step 1', 'step 2', 'step 3'].map(failed).reduce(addEnd, NO_ENDS);
    expect([ends.all, mostAlike(ends)]).toEqual([5, 3]);
    expect(alikeText(ends)).toBe('3 attempts ended alike, and no row has succeeded: step 3');
    expect(mostAlike(NO_ENDS)).toBe(0);
  });

  it('say of runs without files what to look at', () => {
    const empty = { outcome: 'empty', reason: 'the run succeeded but produced no file' } as const;
    expect(alikeText([empty, empty].reduce(addEnd, NO_ENDS))).toBe(
      '2 runs succeeded but produced no file. Does the workflow save its images?',
    );
  });

  it('take little space, whatever the reasons are, and count the frequent one also then', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 400 }), { maxLength: 200 }), (reasons) => {
        const mixed = [
          failed('the same'),
          ...reasons.flatMap((reason) => [failed(reason), failed('the same')]),
        ];
        const ends = mixed.reduce(addEnd, NO_ENDS);
        expect(mostAlike(ends)).toBeGreaterThanOrEqual(reasons.length);
        expect(ends.all).toBe(mixed.length);
        expect(ends.counts.length).toBeLessThanOrEqual(20);
        for (const { reason } of ends.counts) expect(jsonBytes(reason)).toBeLessThanOrEqual(REASON_BYTES);
        expect(jsonBytes(alikeText(ends))).toBeLessThanOrEqual(REASON_BYTES);
      }),
      { numRuns: 30 },
    );
  });
});
