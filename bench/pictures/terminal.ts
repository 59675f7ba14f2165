// A picture of a command in a terminal, for the documents.

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installedIn } from '../../test/stage/command.ts';
import { animationOf, type Playback } from './animation.ts';
import { recordSession, screensOf } from './session.ts';

export const ROOT = join(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'docs/pictures');
const TERMINAL = { columns: 108, rows: 24 };
/** Screens are so far apart when they are played. */
const APART_MS = 200;
const MOST_BYTES = 300_000;

/** Runs `runsheet` with these words in `folder`. */
export async function pictureOf(
  name: string,
  words: string,
  folder: string,
  playback: Playback,
): Promise<void> {
  // The commands that it proposes begin with the name that it has on the PATH.
  const program = installedIn(folder);
  const session = recordSession(`${process.execPath} ${program} ${words}`, folder, TERMINAL);
  const screens = await screensOf(`runsheet ${words}`, session, TERMINAL, APART_MS * playback.speed);
  const svg = animationOf(screens, TERMINAL, playback);
  if (svg.includes(tmpdir()) || svg.includes(ROOT)) throw new Error(`${name} shows a path of this machine`);
  if (svg.length > MOST_BYTES) throw new Error(`${name} has ${svg.length} bytes`);
  writeFileSync(join(PICTURES, name), svg);
}
