// Names the source of proposals for an argument or a flag. Its module is loaded only when something is completed.

import type * as proposals from './proposals.ts';

export type Source = Exclude<keyof typeof proposals, 'keepNames'>;

export const proposing = <P extends object>(parameter: P, source: Source) => ({
  ...parameter,
  proposeCompletions: async (partial: string): Promise<readonly string[]> =>
    (await import('./proposals.ts'))[source](partial),
});
