// Runs a text in bash, as if it was pasted into a terminal, and ends with its exit code.

import { spawnSync } from 'node:child_process';

const { status } = spawnSync('bash', ['-c', process.argv[2]], { stdio: 'inherit' });
process.exit(status ?? 1);
