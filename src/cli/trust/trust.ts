// trust: lets a file that came with a folder, or a state folder, count for this user; lists what counts, and takes it back.

import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { choicesIn, ownNotes } from '../../host/config.ts';
import { linesOf } from '../../host/settings-files.ts';
import { trustStateFolder } from '../../host/state-folder.ts';
import { forget, trust, trustNotes, type Found } from '../../host/trust-notes.ts';
import { printerFor, type Context, type Printer } from '../context.ts';

type Flags = { readonly list: boolean; readonly forget: boolean };

const SETTINGS = 'runsheet.toml';

export default async function trustPath(this: Context, flags: Flags, given?: string): Promise<void> {
  const printer = printerFor(this);
  if (flags.list) return listed(printer);
  const path = resolve(given ?? SETTINGS);
  if (flags.forget) return forgotten(printer, path);
  if (isStateFolder(path)) {
    trustStateFolder(path, ownNotes());
    return said(printer, path, given, [`its keys, schedules and programs count while it stays at this path`]);
  }
  const found = choicesOf(isFolder(path) ? join(path, SETTINGS) : path);
  trust(ownNotes(), found);
  said(printer, found.path, given, linesOf(found));
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** By its name, or by the mark that each has. */
const isStateFolder = (path: string): boolean =>
  isFolder(path) && (basename(path) === '.runsheet' || existsSync(join(path, 'instance')));

function choicesOf(path: string): Found {
  if (!existsSync(path))
    throw problem('E602', {
      what: `there is no ${path}`,
      hint: 'give the path of a runsheet.toml, or of a state folder',
    });
  const found = choicesIn(path);
  if (found !== undefined) return found;
  throw problem('E602', { what: `${path} says nothing that has to be trusted`, hint: 'it counts as it is' });
}

function said(printer: Printer, path: string, given: string | undefined, lines: readonly string[]): void {
  printer.data(terminalLine(`trusted: ${path}`));
  for (const line of lines) printer.data(terminalLine(`  ${line}`));
  printer.next(['forget', `runsheet trust --forget${given === undefined ? '' : ` ${shellWord(given)}`}`]);
}

function listed(printer: Printer): void {
  const notes = trustNotes(ownNotes());
  for (const { path, at } of notes) printer.data(terminalLine(`${path}\t${at}`));
  if (notes.length === 0) printer.notice('nothing is trusted yet');
}

function forgotten(printer: Printer, path: string): void {
  if (forget(ownNotes(), path) > 0) return printer.notice(terminalLine(`no longer trusted: ${path}`));
  throw problem('E602', { what: `${path} is not trusted`, hint: 'list what is: runsheet trust --list' });
}
