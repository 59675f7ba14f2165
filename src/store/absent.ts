/** For a file or folder that may not be there; every other error is thrown. */
export function undefinedIfAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}
