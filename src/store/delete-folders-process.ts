// The process that goes on deleting after a command has ended; its arguments are the folders. One that cannot be deleted keeps its
// hidden name, and the next `clean` tries again.

import { deleteFolder } from './delete-folder.ts';

const deleted = await Promise.allSettled(process.argv.slice(2).map(deleteFolder));
process.exitCode = deleted.some(({ status }) => status === 'rejected') ? 1 : 0;
