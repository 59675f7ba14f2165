// Requests that change nothing. A service under load answers with a pause, and all reads wait for its end.

import { setTimeout as wait } from 'node:timers/promises';
import { retryAfterMs, type ServerAnswer } from './http.ts';

const WAITED_MOST_MS = 30_000;
const TIMES_MOST = 3;

export type Reads = {
  /** The answer may still be 429. */
  ask(path: string): Promise<ServerAnswer>;
  close(): void;
};

export function openReads(ask: (path: string) => Promise<ServerAnswer>): Reads {
  const closing = new AbortController();
  let quietUntil = 0;
  const quiet = async (): Promise<void> => {
    const ms = quietUntil - performance.now();
    if (ms > 0) await wait(ms, undefined, { signal: closing.signal }).catch(() => undefined);
  };
  return {
    async ask(path) {
      for (let times = 1; ; times += 1) {
        await quiet();
        const answer = await ask(path);
        if (answer.status !== 429 || times >= TIMES_MOST || closing.signal.aborted) return answer;
        const ms = Math.min(retryAfterMs(answer.headers), WAITED_MOST_MS);
        quietUntil = Math.max(quietUntil, performance.now() + ms);
      }
    },
    close: () => closing.abort(),
  };
}
