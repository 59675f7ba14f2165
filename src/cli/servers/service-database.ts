// Where the run service keeps its state.

import { join } from 'node:path';
import { takeStateFolder } from '../../host/state-folder.ts';

const NOWHERE = ':memory:';

type Asked = {
  /** The file that the user names. */
  readonly db: string | undefined;
  readonly home: string;
  /** Whether the service is in front of real GPUs. */
  readonly hasGpus: boolean;
};

/** Names the database: in front of real GPUs, runs, uploaded files and workflows survive a restart; a rehearsal keeps nothing. Throws E606. */
export function databaseOf({ db, home, hasGpus }: Asked): string {
  if (db !== undefined || !hasGpus) return db ?? NOWHERE;
  takeStateFolder(home);
  return join(home, 'service.db');
}
