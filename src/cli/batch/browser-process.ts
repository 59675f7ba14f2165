// The process that opens the user's browser; its argument is the path or the address.

import open from 'open';

await open(process.argv[2] ?? '').catch(() => (process.exitCode = 1));
