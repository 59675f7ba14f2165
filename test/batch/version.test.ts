import { describe, expect, it } from 'vitest';
import { restore, snapshot } from '../../src/batch/state/snapshot.ts';
import { begin } from '../../src/batch/state/state.ts';
import { OLDEST, READS, readableVersion, WRITES } from '../../src/batch/behaviour-version.ts';
import { problem } from '../../src/errors/error.ts';
import { paramsOf } from './params.ts';

describe('version', () => {
  it('the version in which batches begin is one that this code can continue', () => {
    expect(WRITES).toBeLessThanOrEqual(READS);
    expect(readableVersion(WRITES)).toBe(WRITES);
    expect(readableVersion(READS)).toBe(READS);
  });

  it('the version of a batch is refused by a worker that is too old for it, so that another one takes over', () => {
    expect(() => readableVersion(READS + 1)).toThrow(
      `up to version ${READS}, and this one has version ${READS + 1}`,
    );
    const newer = { ...snapshot(begin(paramsOf(), WRITES, 0)), version: READS + 1 };
    expect(() => restore(newer)).toThrow(`up to version ${READS}`);
  });

  it('a batch of a version that no code knows any more is refused with what finishes it', () => {
    const { hint } = problem('E514', { folder: 'old' });
    const text = `E514: an earlier version of runsheet made this batch (behaviour ${OLDEST - 1}; this worker continues from ${OLDEST} on): ${hint}`;
    expect(() => readableVersion(OLDEST - 1)).toThrow(text);
    const older = { ...snapshot(begin(paramsOf(), WRITES, 0)), version: OLDEST - 1 };
    expect(() => restore(older)).toThrow(text);
  });

  it('the version of a batch is raised by a continue-as-new to the one in which batches begin now, and never lowered', () => {
    expect(snapshot(begin(paramsOf(), 0, 0)).version).toBe(WRITES);
    expect(snapshot(begin(paramsOf(), WRITES + 5, 0)).version).toBe(WRITES + 5);
    expect(restore(snapshot(begin(paramsOf(), WRITES, 0))).version).toBe(WRITES);
  });
});
