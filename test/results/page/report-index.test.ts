// The index that the page decodes, read back column by column.

import { beforeEach, describe, expect, it } from 'vitest';
import { pageSource } from '../../../src/results/page/page-source.ts';
import { TICK_MS } from '../../../src/results/page/report-index.ts';
import type { RowRecord } from '../../../src/results/row-record.ts';
import { folderStore } from '../../../src/store/folder.ts';
import { readReport } from './read-report.ts';
import { writeScene } from './scene.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

describe('the index of a report', () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });

  it('has each row and each attempt, with its times', async () => {
    const records: RowRecord[] = [];
    const change = (record: RowRecord): RowRecord => (records.push(record), record);
    await writeScene(folder, { rows: 200, pictures: 4, failing: 0.2, change });
    const { texts, numbers, facts } = await readReport(folderStore(folder));
    expect(texts('key')).toEqual(records.map(({ key }) => key));
    expect(texts('file')).toEqual(records.map(({ files }) => files[0]?.path ?? ''));
    expect(texts('sha')).toEqual(records.map(({ files }) => files[0]?.sha256.slice(0, 12) ?? ''));
    expect(numbers('files')).toEqual(records.map(({ files }) => files.length));
    expect(numbers('attempts')).toEqual(records.map(({ attempts }) => attempts.length));
    const attempts = records.flatMap((record) => record.attempts);
    expect(numbers('a.gpu').map((gpu) => facts.gpus[gpu])).toEqual(attempts.map(({ gpu_used }) => gpu_used));
    let tick = 0;
    const times = numbers('a.created').map((since) => (tick = (tick + since) >>> 0) * TICK_MS);
    const created = attempts.map(({ created_at = '' }) => Date.parse(created_at));
    const base = (created[0] ?? 0) - (times[0] ?? 0);
    for (const [at, time] of times.entries())
      expect(Math.abs(base + time - (created[at] ?? 0))).toBeLessThanOrEqual(TICK_MS);
  });

  it('tells rows apart whose inputs only begin alike', async () => {
    const change = (record: RowRecord): RowRecord => ({
      ...record,
      inputs: { prompt: `${'a fox '.repeat(100)}${record.row < 3 ? 'by day' : 'by night'}` },
    });
    await writeScene(folder, { rows: 3, failing: 0, change });
    const [first, second, third] = (await readReport(folderStore(folder))).numbers('inputs');
    expect([first === second, first === third]).toEqual([true, false]);
  });

  it('has a policy that allows no connection and no other address', async () => {
    const { policy } = await pageSource();
    expect(policy).not.toMatch(/unsafe|connect-src|https?:/);
  });
});
