// The worker of the pipeline.

import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { RunsheetPlugin } from 'runsheet/worker';
import * as activities from './activities.ts';

const connection = await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' });
const worker = await Worker.create({
  connection,
  namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default',
  taskQueue: 'campaigns',
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities,
  plugins: [new RunsheetPlugin()],
});
process.stdout.write('ready\n');
await worker.run();
await connection.close();
