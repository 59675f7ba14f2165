// Files that a workflow names itself. They may be missing on any machine but the owner's.

import { isWebAddress } from '../../../host/http/web-address.ts';
import { Unreachable, type Backend } from '../backend.ts';
import type { InputType, Workflow } from './workflow.ts';

/** Marks the inputs whose default file is on none of the servers. A server that does not tell may have the file. */
export async function withAbsentFiles(workflow: Workflow, backends: readonly Backend[]): Promise<Workflow> {
  const inputs = await Promise.all(
    workflow.inputs.map(async (input) =>
      (await isAbsent(input, backends)) ? { ...input, isAbsent: true as const } : input,
    ),
  );
  return { ...workflow, inputs };
}

async function isAbsent(
  { fields, default: name, isIdle, node }: InputType,
  backends: readonly Backend[],
): Promise<boolean> {
  const isNamed = typeof name === 'string' && name !== '' && !isWebAddress(name) && isInFolder(name);
  // A field called a path is relative to the folder in which the server was started.
  const isPath = /path/i.test(node?.class ?? '');
  if (!isNamed || isPath || isIdle === true || !fields.some(({ isFile }) => isFile)) return false;
  const present = await Promise.all(backends.map((backend) => hasFile(backend, name)));
  return present.length > 0 && present.every((has) => !has);
}

const isInFolder = (name: string): boolean => !/^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(name);

async function hasFile(backend: Backend, name: string): Promise<boolean> {
  try {
    return (await backend.hasFile?.(name)) ?? true;
  } catch (error) {
    if (error instanceof Unreachable) return true;
    throw error;
  }
}
