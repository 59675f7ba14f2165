// Chooses the database of the run service.

import { join } from 'node:path';
import { takeStateFolder } from '../../host/state-folder.ts';

const NOWHERE = ':memory:';

type DatabaseRequest = {
  /** The database file, if the user names one. */
  readonly db: string | undefined;
  readonly home: string;
  /** Whether the service is in front of real GPUs. */
  readonly hasGpus: boolean;
};

/** In front of real GPUs, runs, uploaded files and workflows survive a restart; a rehearsal keeps nothing. Throws E606. */
export function databaseOf({ db, home, hasGpus }: DatabaseRequest): string {
  if (db !== undefined || !hasGpus) return db ?? NOWHERE;
  takeStateFolder(home);
  return join(home, 'service.db');
}
