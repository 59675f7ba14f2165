// Reads files one after another, and the next ones meanwhile: in S3 each of them takes a round trip, and on a disk some turns of the
// event loop.

import type { Store } from './store.ts';

/** Files that are read ahead: of large ones, and of small ones. No more than these are in memory when the first large one comes. */
const AHEAD = { least: 1, most: 16 };
const AHEAD_ON_DISK = { least: 0, most: 1 };
const LARGE = 1 << 20;

/** The texts of these files, in their order; '' for one that is not there. */
export async function* readAhead(store: Store, names: readonly string[]): AsyncGenerator<string> {
  const { least, most } = store.localPath === undefined ? AHEAD : AHEAD_ON_DISK;
  const reading: Promise<string>[] = [];
  let ahead = least;
  for (let next = 0, at = 0; at < names.length; at += 1) {
    for (; next < names.length && next <= at + ahead; next += 1) reading.push(textOf(store, names[next]));
    const text = (await reading.shift()) ?? '';
    yield text;
    ahead = text.length > LARGE ? least : Math.min(most, Math.max(1, 2 * ahead));
  }
}

function textOf(store: Store, name = ''): Promise<string> {
  const text = store.read(name).then((found) => found ?? '');
  // A caller that needs no more leaves the rest behind; for others, the error is thrown in turn.
  text.catch(() => undefined);
  return text;
}
