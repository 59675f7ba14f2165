import type { Store } from './store.ts';

/** The first bytes of a file, as Latin-1 text; the pieces in which a store gives them may be smaller. */
export async function startOf(store: Pick<Store, 'open'>, name: string, bytes: number): Promise<string> {
  let start = Buffer.alloc(0);
  for await (const piece of store.open(name) as AsyncIterable<Uint8Array>) {
    start = Buffer.concat([start, piece]);
    if (start.length >= bytes) break;
  }
  return start.toString('latin1', 0, bytes);
}
