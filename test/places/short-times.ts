// The command line with other contract times of vendors than a product has: a doubt about a run ends after seconds.

import { main } from '../../src/cli/main.ts';
import { TIMING } from '../../src/run-service/executors/driving/server-deps.ts';
import { COG } from '../../src/run-service/executors/vendors/cog.ts';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';

/** `queueMs` and `slackMs` bound a doubt at a vendor without a list; the others are steps of the service. */
export type ShortTimes = {
  readonly submit?: Partial<typeof SUBMIT>;
  readonly timing?: Partial<typeof TIMING>;
  readonly cog?: Partial<typeof COG>;
};

const { submit, timing, cog } = JSON.parse(process.env['SHORT_TIMES'] ?? '{}') as ShortTimes;
Object.assign(SUBMIT, submit);
Object.assign(TIMING, timing);
Object.assign(COG, cog);

await main(process.argv.slice(2));
