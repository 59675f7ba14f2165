// Reads the processes of this machine from /proc.

import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** A process and all of its descendants. */
export function familyOf(pid: number | undefined): readonly number[] {
  if (pid === undefined) return [];
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}

/** Processes whose working folder or command line contains the folder. */
export function strays(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && (commandOf(pid).includes(folder) || folderOf(pid) === folder));
}

function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // The process has ended meanwhile, or is not ours.
    return undefined;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}

export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function isAlive(pid: number): boolean {
  // A zombie counts as dead.
  const state = parentOf(pid) === undefined ? 'X' : (statOf(pid) ?? 'X');
  return state !== 'Z' && state !== 'X';
}

function statOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[0];
  } catch {
    // The process has ended meanwhile.
    return undefined;
  }
}
