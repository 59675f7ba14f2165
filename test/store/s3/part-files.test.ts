// A partial file in S3 whose part could not be stored.

import { describe, expect, it } from 'vitest';
import { PART_BYTES } from '../../../src/store/s3/multipart.ts';
import { openResumable } from '../../../src/store/s3/part-files.ts';
import { large } from '../partial-contract.ts';
import { MemoryS3 } from './memory-s3.ts';

const PATH = 'hens/outputs/fox/1.mp4';
const AS = { id: 'run-1', mark: '"one"' };
const content = large(2 * PART_BYTES + 12_345);

/** A bucket in which part `failing` cannot be stored once. */
function bucketWithout(failing: number): MemoryS3 {
  let failed = false;
  return new MemoryS3(({ method, key }) => {
    const fails = !failed && method === 'PUT' && key.endsWith(`.0000${failing}`);
    failed ||= fails;
    return fails;
  });
}

const UNREACHABLE = { code: 'E612' };

describe('a file in S3 whose part could not be stored', () => {
  it.each([1, 2])('keeps no bytes after part %i, and the next try continues before it', async (failing) => {
    const bucket = bucketWithout(failing);
    const first = await openResumable(bucket, PATH, AS);
    await expect(first.write(content)).rejects.toMatchObject(UNREACHABLE);
    await first.leave();
    const second = await openResumable(bucket, PATH, AS);
    expect(second.kept).toBe((failing - 1) * PART_BYTES);
    await second.write(content.subarray(second.kept));
    await second.commit();
    expect(bucket.objects.get(PATH)?.equals(content)).toBe(true);
    expect([...bucket.objects.keys()]).toEqual([PATH]);
  });

  it('keeps the last bytes of an earlier try, which are before the gap', async () => {
    const bucket = bucketWithout(1);
    const first = await openResumable(bucket, PATH, AS);
    await first.write(content.subarray(0, 10));
    await first.leave();
    const second = await openResumable(bucket, PATH, AS);
    await expect(second.write(content.subarray(10))).rejects.toMatchObject(UNREACHABLE);
    await second.leave();
    const third = await openResumable(bucket, PATH, AS);
    expect(third.kept).toBe(10);
    await third.write(content.subarray(10));
    await third.commit();
    expect(bucket.objects.get(PATH)?.equals(content)).toBe(true);
  });

  it.each([
    ['it', []],
    ['it and more bytes', [content.subarray(0, 5)]],
    ['it and another part', [content.subarray(0, PART_BYTES)]],
  ])('is not put in place without %s', async (_, more) => {
    const bucket = bucketWithout(1);
    const draft = await openResumable(bucket, PATH, AS);
    await expect(draft.write(content.subarray(0, PART_BYTES + 5))).rejects.toMatchObject(UNREACHABLE);
    for (const bytes of more) await draft.write(bytes).catch(() => undefined);
    await expect(draft.commit()).rejects.toThrow('a part could not be stored');
    expect(bucket.objects.has(PATH)).toBe(false);
    await draft.leave();
    expect((await openResumable(bucket, PATH, AS)).kept).toBe(0);
  });

  it('is whole if the caller begins it again', async () => {
    const bucket = bucketWithout(2);
    const draft = await openResumable(bucket, PATH, AS);
    await expect(draft.write(content)).rejects.toMatchObject(UNREACHABLE);
    draft.restart();
    await draft.write(content);
    await draft.commit();
    expect(bucket.objects.get(PATH)?.equals(content)).toBe(true);
  });
});
