// Reads the workflows that a state folder stores for the user's own GPUs, without starting the run service.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The database of the embedded run service. */
export const localDatabaseOf = (home: string): string => join(home, 'local-service.db');

/** Whether the state folder stores a workflow of this name or id; false if its database cannot be read now. */
export function isWorkflowKept(home: string, deployment: string): boolean {
  const file = localDatabaseOf(home);
  if (!existsSync(file)) return false;
  try {
    using db = new DatabaseSync(file, { readOnly: true });
    const kept = db.prepare("SELECT 1 FROM workflow WHERE id = ? OR json ->> '$.name' = ?");
    return kept.get(deployment, deployment) !== undefined;
  } catch {
    return false;
  }
}
