// A picture of a command in a terminal, for the documents.

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedIn } from '../../test/stage/command.ts';
import { animationOf, type Playback } from './animation.ts';
import { recordSession, screensOf } from './session.ts';

export const ROOT = join(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'docs/pictures');
const DEMO = join(ROOT, 'examples/kills/race.ts');
const TERMINAL = { columns: 108, rows: 24 };
/** Screens are so far apart when they are played. */
const APART_MS = 200;
const MAX_BYTES = 300_000;

/** Records a command in `folder`; `runsheet` and `npm run demo` are found as a user of the clone or the package has them. */
export async function pictureOf(
  name: string,
  command: string,
  folder: string,
  playback: Playback,
): Promise<void> {
  // The commands that it proposes begin with the name that it has on the PATH.
  const program = installedIn(folder);
  const line = command.replace(/^runsheet/, program).replace(/^npm run demo/, DEMO);
  const session = recordSession(`${process.execPath} ${line}`, folder, TERMINAL);
  const screens = await screensOf(command, session, TERMINAL, APART_MS * playback.speed);
  const svg = animationOf(screens, TERMINAL, playback);
  if (svg.includes(tmpdir()) || svg.includes(ROOT)) throw new Error(`${name} shows a path of this machine`);
  if (svg.length > MAX_BYTES) throw new Error(`${name} has ${svg.length} bytes`);
  writeFileSync(join(PICTURES, name), svg);
}
