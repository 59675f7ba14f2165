import { hostname, userInfo } from 'node:os';

/** The user who gives a command, for the log of the batch. */
export function userHere(): string {
  const host = hostname();
  try {
    return `${userInfo().username}@${host}`;
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.() ?? '?'}@${host}`;
  }
}
