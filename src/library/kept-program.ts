// Finds the program behind a deployment in the state folder of its user, who alone may read it.

import {
  editIn,
  keptProgram,
  programIdsIn,
  programsIn,
  type NamedProgram,
} from '../host/settings/named-program.ts';
import { deploymentIdOf } from '../run-service/executors/program/program-task.ts';

export type ShownProgram = Pick<NamedProgram, 'command' | 'folder' | 'secrets'> & {
  /** Names only, because a proxy's address may hold a password. */
  readonly environment: readonly string[];
  readonly stays: boolean;
  readonly files: readonly {
    readonly path: string;
    readonly sha256: string;
    readonly edit: string | undefined;
  }[];
};

/** undefined for a deployment that is no program of this user. */
export function programBehind(home: string, deploymentId: string): ShownProgram | undefined {
  const programs = programsIn(home);
  const id = programIdsIn(programs).find((each) => deploymentIdOf(each) === deploymentId);
  if (id === undefined) return undefined;
  const { command, stays = false, folder, secrets, environment, files } = keptProgram(programs, id);
  return {
    command,
    stays,
    folder,
    secrets,
    environment: Object.keys(environment).toSorted((a, b) => (a < b ? -1 : 1)),
    files: Object.entries(files).map(([path, sha256]) => ({
      path,
      sha256,
      edit: editIn({ [path]: sha256 }),
    })),
  };
}
