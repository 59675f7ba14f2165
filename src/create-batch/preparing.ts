// Where a batch is prepared, before it exists.

import type { Config } from '../host/config.ts';

export type Preparing = {
  /** The place of the batches. In a local folder, a batch is prepared there as well, so that it only has to be moved. */
  readonly out: string;
  /** The state folder, for batches that are elsewhere (default: the temporary folder of this machine). */
  readonly home?: string;
};

/** With the settings of this machine. */
export const preparingIn = ({ out, home, s3 }: Pick<Config, 'out' | 'home' | 's3'>) => ({ out, home, s3 });
