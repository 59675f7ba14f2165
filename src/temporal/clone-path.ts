import { fileURLToPath } from 'node:url';
import { problem } from '../errors/error.ts';

/**
 * Throws E602 in a clone whose path webpack, which builds the workflows, would misread. A package contains them
 * already built.
 */
export function refuseUnbuildable(): void {
  const folder = fileURLToPath(new URL('../..', import.meta.url));
  if (!import.meta.url.endsWith('.ts') || !/[?!]/.test(folder)) return;
  throw problem('E602', {
    what: `the workflows cannot be built in ${folder}: its path has a ? or a !`,
    hint: 'move this clone to a folder without them',
  });
}
