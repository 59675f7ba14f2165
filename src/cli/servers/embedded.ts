// embedded: the process of the embedded servers, started by other commands.

import { EXIT } from '../../errors/error.ts';
import { loadConfig } from '../../host/settings/config.ts';
import { openLog } from '../../host/log.ts';
import { spawnWorker } from '../../temporal/embedded/processes.ts';
import { awaitBegin } from '../../temporal/embedded/spare-stack.ts';
import type { Context } from '../context.ts';

export default async function embedded(this: Context): Promise<number> {
  const config = loadConfig();
  // The worker loads its code in parallel, which takes the longest. It ends with this process.
  const worker = spawnWorker(config);
  const loading = import('../../temporal/embedded/stack.ts');
  if (!(await awaitBegin(this.process.stdin))) return EXIT.ok;
  const { runStack } = await loading;
  return runStack(config, openLog(config.logLevel, 'stack'), worker);
}
