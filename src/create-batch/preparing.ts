// Where a batch is prepared, before it exists.

import type { Config } from '../host/config.ts';

export type Preparing = {
  /** The place of the batches. In a local folder, a batch is prepared there as well, so that it only has to be moved. */
  readonly out: string;
  /** The state folder, for batches that are elsewhere (default: the temporary folder of this machine). */
  readonly home?: string;
};

/** By the settings of this machine. */
export const preparingIn = ({ out, home }: Pick<Config, 'out' | 'home'>) => ({ out, home });
