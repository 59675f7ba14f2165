// Reads files one after another. In S3 each of them takes a round trip, so the next ones are asked for meanwhile.

import type { Store } from './store.ts';

const AHEAD = 16;
/** Of such files, no more than one is in memory beside the one in use. */
const LARGE = 1 << 20;

/** The texts of these files, in their order; '' for one that is not there. */
export async function* readAhead(store: Store, names: readonly string[]): AsyncGenerator<string> {
  const most = store.localPath === undefined ? AHEAD : 0;
  const reading: Promise<string>[] = [];
  let ahead = Math.min(1, most);
  for (let next = 0, at = 0; at < names.length; at += 1) {
    for (; next < names.length && next <= at + ahead; next += 1) reading.push(textOf(store, names[next]));
    const text = (await reading.shift()) ?? '';
    yield text;
    ahead = text.length > LARGE ? Math.min(1, most) : Math.min(most, 2 * ahead);
  }
}

function textOf(store: Store, name = ''): Promise<string> {
  const text = store.read(name).then((found) => found ?? '');
  // A caller that needs no more leaves the rest behind; for others, the error is thrown in turn.
  text.catch(() => undefined);
  return text;
}
