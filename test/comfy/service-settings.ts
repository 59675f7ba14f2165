// The settings of a command that uses a service of a test, and keeps everything in one folder.

import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';

/** `base`: the address of the service. */
export function useService(base: string, folder: string): void {
  const settings = {
    RUNSHEET_API_URL: base,
    RUNSHEET_API_KEY: 'key',
    RUNSHEET_OUT: join(folder, 'batches'),
    RUNSHEET_HOME: join(folder, 'home'),
    TEMPORAL_ADDRESS: undefined,
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}
