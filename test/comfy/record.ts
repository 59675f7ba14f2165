// Records what a real ComfyUI answers: npm run comfyui:record -- http://127.0.0.1:8188
// It needs the classes of nodes.py in its folder custom_nodes, no other work, and no files in its folder input.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { play } from './play.ts';
import { SCRIPTS } from './scripts.ts';

const [url = 'http://127.0.0.1:8188', only] = process.argv.slice(2);
const folder = join(import.meta.dirname, 'recordings');
mkdirSync(folder, { recursive: true });
for (const [name, script] of Object.entries(SCRIPTS)) {
  if (only !== undefined && name !== only) continue;
  console.log(name);
  const answers = await play(script, url);
  const lines = answers.map((answer) => JSON.stringify(answer)).join(',\n');
  writeFileSync(join(folder, `${name}.json`), `[\n${lines}\n]\n`);
}
