import { batchesOver } from './over-executors.ts';

batchesOver('rehearsal');
