import { expect, it } from 'vitest';
import { childBatch } from '../../workflows/awaited-batch.ts';

it('a batch that an earlier release made is started without a page and without search attributes', () => {
  const made = { batch: 'nightly', mark: '0123456789abcdef', folder: '/data/nightly', version: 3 };
  const options = childBatch({ ...made, rows: 2, reused: 0, hasEnded: false, encrypted: false });
  expect(options).toMatchObject({ staticSummary: 'nightly', typedSearchAttributes: [] });
  expect(options).not.toHaveProperty('staticDetails');
});
