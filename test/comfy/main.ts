// The stand-in as a process of its own, which can be killed: node test/comfy/main.ts FOLDER [--port N]
// It prints its address, and appends the id of each prompt that it executes to FOLDER/output/executed.txt.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXECUTED } from './ordeal.ts';
import { ComfyStandIn } from './stand-in.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string', default: '0' } },
});
const [folder = '.'] = positionals;
const standIn = new ComfyStandIn({ folder, port: Number(values.port) });
standIn.on('began', ({ prompt_id }) => appendFileSync(join(standIn.output, EXECUTED), `${prompt_id}\n`));
await standIn.start();
console.log(standIn.url);
