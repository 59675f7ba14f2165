// Says how far the files are that go to the run service before a batch is made.

import { performance } from 'node:perf_hooks';
import type { Uploading } from '../../create-batch/files/local-files.ts';

/** Between two notices. */
const EVERY_MS = 2_000;

export function uploadNotices(notice: (text: string) => void): (uploading: Uploading) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return ({ files, done, endsAt }) => {
    if (endsAt !== undefined)
      return notice(`The addresses of the files expire at ${new Date(endsAt).toISOString()}`);
    const isDue = done === files || performance.now() - saidAtMs >= EVERY_MS;
    if (!isDue) return;
    saidAtMs = performance.now();
    notice(`uploading files: ${done.toLocaleString('en-US')} of ${files.toLocaleString('en-US')}`);
  };
}
