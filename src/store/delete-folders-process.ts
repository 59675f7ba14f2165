// The process that goes on deleting after a command has ended; its arguments are the folders. One that cannot be deleted keeps its
// hidden name, and the next `clean` tries again.

import { deleteFolder } from './delete-folder.ts';

for (const path of process.argv.slice(2)) await deleteFolder(path).catch(() => (process.exitCode = 1));
