import { describe, expect, it } from 'vitest';
import { shownBatch } from '../../src/batch/shown/shown-batch.ts';

const described = {
  batch: 'owls-1',
  sheet: { name: 'owls.csv', rows: 1200 },
  deployment: { id: 'a243', name: 'portraits' },
  service: { base: 'https://gpu.example' },
  createdAt: '2026-01-02T03:04:05Z',
};

describe('what Temporal shows of a batch from its start', () => {
  it('names rows, deployment and sheet, in its summary and for searches', () => {
    const { summary, details, search } = shownBatch(described);
    expect(summary).toBe('1,200 rows · portraits · owls.csv');
    expect(details).toContain('| created | 2026-01-02T03:04:05Z |');
    expect(search).toEqual({ deployment: 'portraits', sheet: 'owls.csv', rows: 1200 });
  });

  it('has the id of a deployment without a name', () => {
    const { search } = shownBatch({ ...described, deployment: { id: 'a243' } });
    expect(search.deployment).toBe('a243');
  });

  it('is no Markdown, whatever the sheet is called', () => {
    const name = '*a*|b\n[c](d).csv';
    expect(shownBatch({ ...described, sheet: { name, rows: 1 } }).details).toContain(
      String.raw`| sheet | \*a\*\|b\
\[c\](d).csv |`,
    );
  });
});
