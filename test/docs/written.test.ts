import { expect, it } from 'vitest';
import { pageWith, PARTS } from './written.ts';

it.each(PARTS)('$page has its $mark as npm run docs writes them', (part) => {
  const { is, shall } = pageWith(part);
  expect(is).toBe(shall);
});
