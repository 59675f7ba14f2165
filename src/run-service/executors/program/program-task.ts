// A program that its user has named, as a task of the run service.

import { keptProgram, type NamedProgram } from '../../../host/settings/named-program.ts';
import { uuidOf } from '../../identity.ts';
import { describedInputs } from '../workflow/described-inputs.ts';
import type { InputsTask } from '../task.ts';

/** Reads the program from the state folder. Throws E602 for an id that no command of this user has kept. */
export const programTask = (programs: string, id: string): InputsTask =>
  taskOf(id, keptProgram(programs, id));

/** The id of the deployment of a program. */
export const deploymentIdOf = (id: string): string => uuidOf('program', id);

function taskOf(id: string, { name, inputs, runTimeoutSeconds, ...program }: NamedProgram): InputsTask {
  const { command, stays, folder, environment, secrets, files } = program;
  return {
    kind: 'program',
    id: deploymentIdOf(id),
    name,
    inputs: inputs === null ? undefined : describedInputs(inputs),
    isPaid: false,
    runTimeoutSeconds,
    program: { command, ...(stays && { stays }), folder, environment, secrets, files },
  };
}
