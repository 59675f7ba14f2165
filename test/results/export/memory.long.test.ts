// An export takes memory that does not depend on the number of rows. The process may use more than it needs, because the engine
// cleans up late; so the heap is limited to what a batch of any size needs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setInterval } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeEndedBatch } from '../../../bench/ended-batch.ts';
import { EXPORT_FORMATS } from '../../../src/options/choices.ts';
import { programFile } from '../../../src/temporal/embedded/processes.ts';
import { sharedFolder } from '../../stage/fresh-folder.ts';

const ROWS = 300_000;
/** A record of a row takes about a kilobyte: all of them would take three times as much. */
const HEAP_MEGABYTES = 96;
/** With the program, the buffers of the sorted rows, and what the decoder of pictures takes. */
const MAX_MEGABYTES = 512;
const LOOK_MS = 20;

describe('the memory of an export', () => {
  const out = sharedFolder();
  beforeAll(() => {
    mkdirSync(join(out, 'batch'));
    makeEndedBatch(join(out, 'batch'), { rows: ROWS });
  });

  // The files of these rows do not exist, so there is nothing to zip.
  it.each(EXPORT_FORMATS.filter((format) => format !== 'zip'))(
    'as %s of 300,000 rows fits into a heap of 96 MB',
    async (format) => {
      const peak = await peakOf(format);
      expect(peak).toBeGreaterThan(50);
      expect(peak).toBeLessThan(MAX_MEGABYTES);
    },
  );

  /** The most resident memory of the process, in MB; it ends with a failure if the heap is too small. */
  async function peakOf(format: string): Promise<number> {
    const words = ['export', 'batch', '--as', format, '--out', out, '--file', join(out, `rows.${format}`)];
    const child = spawn(process.execPath, [programFile(), ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES} --max-semi-space-size=4` },
    });
    const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
    let peak = 0;
    const looking = new AbortController();
    void ended.then(() => looking.abort());
    try {
      for await (const _ of setInterval(LOOK_MS, undefined, { signal: looking.signal }))
        peak = peakIn(child.pid ?? 0) ?? peak;
    } catch (error) {
      if ((error as Error).name !== 'AbortError') throw error;
    }
    const [[code], stderr] = await ended;
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('300,000 rows');
    return peak;
  }
});

/** undefined: the process has ended. */
function peakIn(pid: number): number | undefined {
  try {
    const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kb === undefined ? undefined : (Number(kb) * 1_024) / 1e6;
  } catch {
    return undefined;
  }
}
