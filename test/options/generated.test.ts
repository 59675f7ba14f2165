import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { GENERATED } from './generated.ts';

it.each(GENERATED)('$path is as npm run docs writes it', ({ path, written }) => {
  const text = readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  expect(text).toBe(written(text));
});
