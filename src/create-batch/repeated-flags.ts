// Which options have several flags.

import type { Kind } from '../options/table.ts';

export const isPaired = ({ type }: Kind): boolean => type === 'pairs' || type === 'axes';

/** One flag for each value. */
export const isRepeated = (kind: Kind): boolean =>
  isPaired(kind) || kind.type === 'targets' || (kind.type === 'texts' && !kind.joined);
