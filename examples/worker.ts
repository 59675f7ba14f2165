// The worker of an application: its own workflows and activities, and batches by the plugin. It serves the examples beside it;
// the name of the example is the name of its task queue as well:
//
//   npm run build && RUNSHEET_SHEETS=/tmp node examples/worker.ts application

import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { RunsheetPlugin } from 'runsheet/worker';

const [example = 'application'] = process.argv.slice(2);
const connection = await NativeConnection.connect({
  address: process.env['TEMPORAL_ADDRESS'] ?? 'localhost:7233',
});
const worker = await Worker.create({
  connection,
  namespace: process.env['TEMPORAL_NAMESPACE'] ?? 'default',
  taskQueue: example,
  workflowsPath: fileURLToPath(new URL(`${example}/workflows.ts`, import.meta.url)),
  activities: (await import(`./${example}/activities.ts`)) as object,
  plugins: [new RunsheetPlugin()],
});
process.stdout.write('ready\n');
await worker.run();
await connection.close();
