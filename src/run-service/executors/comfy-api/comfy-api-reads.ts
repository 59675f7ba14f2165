// Requests that change nothing. A service under load answers with a pause, and all reads wait for its end.

import { setTimeout as wait } from 'node:timers/promises';
import { retryAfterMs, type ServerAnswer } from '../http.ts';

const MAX_WAITED_MS = 30_000;
const MAX_TIMES = 3;

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
        if (answer.status !== 429 || times >= MAX_TIMES || closing.signal.aborted) return answer;
        const ms = Math.min(retryAfterMs(answer.headers), MAX_WAITED_MS);
        quietUntil = Math.max(quietUntil, performance.now() + ms);
      }
    },
    close: () => closing.abort(),
  };
}
