// Notes about what this user trusts: a downloaded file with its reviewed content, or a state folder that this user's runsheet
// created. A note lies outside of the folder that it is about, so that nobody can bring one along.
//
//   <notes>/trusted/<sha256 of path and content>.json   {"path":"/home/ann/clone/runsheet.toml","at":"2026-11-23T01:00:00.000Z"}

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { problem } from '../../errors/error.ts';
import { jsonIn } from '../../errors/outside-text.ts';
import { isBelow } from '../below.ts';
import { canonical } from '../formats/canonical-json.ts';
import { folderFault, takeOwnFolder } from '../own-folder.ts';
import { readPlainFile } from '../plain-file.ts';
import { replaceFile } from '../replace-file.ts';

const schema = z.object({ path: z.string(), at: z.iso.datetime() });
export type TrustNote = z.output<typeof schema>;

/** A path with its content: the settings of a file, or the mark of a state folder. */
export type TrustSubject = { readonly path: string; readonly content: unknown };

const folderOf = (notes: string): string => join(notes, 'trusted');

function fileOf(notes: string, { path, content }: TrustSubject): string {
  const name = createHash('sha256')
    .update(`${path}\n${canonical(content)}`)
    .digest('hex');
  return join(folderOf(notes), `${name}.json`);
}

export const isTrusted = (notes: string, subject: TrustSubject): boolean =>
  isOwn(notes) && noteIn(fileOf(notes, subject))?.path === subject.path;

/** Newest first. */
export function trustNotes(notes: string): readonly TrustNote[] {
  const notesFound = isOwn(notes)
    ? namesIn(notes).flatMap((name) => noteIn(join(folderOf(notes), name)) ?? [])
    : [];
  return notesFound.toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

/** Throws E606 if there is no place for notes. */
export function trust(notes: string, subject: TrustSubject): void {
  const { path } = subject;
  try {
    for (const folder of [notes, folderOf(notes)])
      if (takeOwnFolder(folder) !== undefined) throw new Error(`others can have written to ${folder}`);
    const note: TrustNote = { path, at: new Date().toISOString() };
    replaceFile(fileOf(notes, subject), JSON.stringify(note));
  } catch (cause) {
    const reason = 'this user has no folder that can remember what is trusted';
    const hint =
      'set XDG_STATE_HOME to a folder of your own that stays, or use variables instead of the file';
    throw problem('E606', { path: notes, reason, hint }, { cause });
  }
}

/** Forgets a file, or all files in a folder. Returns how many notes there were. */
export function forget(notes: string, path: string): number {
  const files = isOwn(notes) ? namesIn(notes).map((name) => join(folderOf(notes), name)) : [];
  const about = files.filter((file) => {
    const noted = noteIn(file)?.path;
    return noted !== undefined && (noted === path || isBelow(noted, path));
  });
  for (const file of about) rmSync(file, { force: true });
  return about.length;
}

/** Withdraws trust from one content only. */
export const withdraw = (notes: string, subject: TrustSubject): void =>
  rmSync(fileOf(notes, subject), { force: true });

/** Whether there are notes that no other user can have written. */
const isOwn = (notes: string): boolean =>
  [notes, folderOf(notes)].every((folder) => existsSync(folder) && folderFault(folder) === undefined);

const namesIn = (notes: string): readonly string[] =>
  readdirSync(folderOf(notes)).filter((name) => name.endsWith('.json'));

function noteIn(file: string): TrustNote | undefined {
  try {
    return schema.safeParse(jsonIn(readPlainFile(file).text)).data;
  } catch {
    return undefined;
  }
}
