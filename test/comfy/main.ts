// The stand-in as a process of its own, which can be killed: node test/comfy/main.ts FOLDER [--port N]
// It prints its address, and appends what it executes to FOLDER/executions.jsonl, at the beginning and at the end of each.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ComfyStandIn } from './stand-in.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '0' } },
});
const [folder = '.'] = positionals;
const standIn = new ComfyStandIn({ folder, port: Number(values.port) });
for (const moment of ['began', 'ended'] as const)
  standIn.on(moment, (executed) =>
    appendFileSync(join(folder, 'executions.jsonl'), `${JSON.stringify(executed)}\n`),
  );
await standIn.start();
console.log(standIn.url);
