// A console whose run service is no rehearsal. Temporal cannot be reached, so a command that goes on ends with E401.

import { onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { openRealService } from '../stage/other-service.ts';
import { Console } from './console.ts';

export async function realConsole(deployments?: readonly object[]): Promise<Console> {
  const console = await Console.open(deployments);
  const { base, close } = await openRealService(loadConfig().apiUrl ?? '');
  onTestFinished(close);
  vi.stubEnv('RUNSHEET_API_URL', base);
  vi.stubEnv('TEMPORAL_ADDRESS', '127.0.0.1:1');
  return console;
}
