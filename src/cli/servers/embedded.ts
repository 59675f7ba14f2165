import { loadConfig } from '../../host/config.ts';
import { openLog } from '../../host/log.ts';
import { runStack } from '../../temporal/embedded/stack.ts';

/** embedded: the process that runs the embedded servers; only commands start it. */
export default async function embedded(): Promise<number> {
  const config = loadConfig();
  return runStack(config, openLog(config.logLevel, 'stack'));
}
