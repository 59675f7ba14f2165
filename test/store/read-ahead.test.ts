import { describe, expect, it } from 'vitest';
import { readAhead } from '../../src/store/pieces.ts';
import type { Store } from '../../src/store/store.ts';

/** A store that notes how many files are being read. */
function counting(textOf: (name: string) => string | undefined, isLocal = false) {
  const seen = { now: 0, most: 0, reads: 0 };
  const read = async (name: string): Promise<string | undefined> => {
    seen.reads += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await new Promise((done) => setImmediate(done));
    seen.now -= 1;
    return textOf(name);
  };
  const store = { read, ...(isLocal && { localPath: (name: string) => name }) } as unknown as Store;
  return { store, seen };
}
const NAMES = Array.from({ length: 100 }, (_, at) => String(at));

describe('files that are read one after another', () => {
  it('come in their order, several at a time from elsewhere, with nothing for those that are not there', async () => {
    const { store, seen } = counting((name) => (name === '7' ? undefined : name));
    const texts = await Array.fromAsync(readAhead(store, NAMES));
    expect(texts).toEqual(NAMES.map((name) => (name === '7' ? '' : name)));
    expect(seen.most).toBeGreaterThan(4);
    expect([seen.reads, seen.most <= 17]).toEqual([100, true]);
  });

  it('come few at a time from this machine', async () => {
    const { store, seen } = counting((name) => name, true);
    expect(await Array.fromAsync(readAhead(store, NAMES))).toEqual(NAMES);
    expect(seen.most).toBe(2);
  });

  it.each([
    ['elsewhere', false, 2],
    ['this machine', true, 1],
  ])('that are large come from %s few at a time', async (_, isLocal, most) => {
    const { store, seen } = counting(() => 'x'.repeat(2 << 20), isLocal);
    await Array.fromAsync(readAhead(store, NAMES));
    expect(seen.most).toBeLessThanOrEqual(most);
  });

  it('of which the later ones are large come two at a time from this machine', async () => {
    const { store, seen } = counting((name) => (Number(name) < 8 ? name : 'x'.repeat(2 << 20)), true);
    await Array.fromAsync(readAhead(store, NAMES));
    expect(seen.most).toBe(2);
  });

  it('are not read far beyond what the caller wants, and its end hides no error', async () => {
    const { store, seen } = counting((name) => {
      if (name === '3') throw new Error('refused');
      return name;
    });
    const texts: string[] = [];
    const readAll = async () => {
      for await (const text of readAhead(store, NAMES)) texts.push(text);
    };
    await expect(readAll()).rejects.toThrow('refused');
    expect(texts).toEqual(['0', '1', '2']);
    expect(seen.reads).toBeLessThan(20);
    for await (const text of readAhead(store, NAMES)) if (text === '1') break;
  });
});
