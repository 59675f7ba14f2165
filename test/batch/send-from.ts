import type { State } from '../../src/batch/state/state.ts';

/** Makes a state whose first lane has sent every place before `next`. */
export function sendFrom({ lanes, params }: State, next: number): void {
  const count = params.rows - next + 1;
  lanes[0]?.segments.splice(0, Infinity, ...(count > 0 ? [{ first: next, count }] : []));
}
