// The process that goes on deleting after a command has ended; its arguments are the folders.

import { deleteFolder } from './delete-folder.ts';

for (const path of process.argv.slice(2)) await deleteFolder(path);
