// trust: lets a file that came with a folder, or a state folder, count for this user; lists what counts, and takes it back.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { choicesIn as settingsIn, ownNotes } from '../../host/config.ts';
import { linesOf } from '../../host/settings-files.ts';
import { allowedPrograms } from '../../notices/prepare-targets.ts';
import { trustStateFolder } from '../../host/state-folder.ts';
import { forget, trust, trustNotes, type Found } from '../../host/trust-notes.ts';
import { batchToTrust } from '../../library/start/foreign-batch.ts';
import { openBatchFolder } from '../../store/batch-folders.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { plural } from '../format.ts';
import { isJob } from '../job/job-file.ts';
import { reachAt } from '../job/job-reach.ts';

type Flags = { readonly list: boolean; readonly forget: boolean };

const SETTINGS = 'runsheet.toml';

export default async function trustPath(this: Context, flags: Flags, given?: string): Promise<void> {
  const printer = printerFor(this);
  if (flags.list) return listed(printer);
  const path = resolve(given ?? SETTINGS);
  if (flags.forget) return forgotten(printer, path);
  if (isStateFolder(path)) {
    trustStateFolder(path, ownNotes());
    sayTrusted(printer, path, [
      'its keys and schedules count while it stays at this path',
      ...allowedPrograms(path).map((program) => `notifications may start ${program}`),
    ]);
    return sayNext(printer, given);
  }
  const batch = isFolder(path) ? await openBatchFolder(dirname(path), basename(path)) : undefined;
  if (batch !== undefined) {
    trust(ownNotes(), batchToTrust(path, batch.file));
    sayTrusted(printer, path, [`its ${plural(batch.file.sheet.rows, 'row')} may be bought`]);
    return sayNext(printer, given);
  }
  for (const { found, lines } of choicesAt(path)) {
    trust(ownNotes(), found);
    sayTrusted(printer, found.path, lines);
  }
  sayNext(printer, given);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** By its name, or by the mark that each has. */
const isStateFolder = (path: string): boolean =>
  isFolder(path) && (basename(path) === '.runsheet' || existsSync(join(path, 'instance')));

type Choices = { readonly found: Found; readonly lines: readonly string[] };

/** Of a file, or of the settings and the jobs in a folder. Throws E602 if there is nothing to trust. */
function choicesAt(path: string): readonly Choices[] {
  const files = isFolder(path) ? readdirSync(path).map((name) => join(path, name)) : [path];
  const all = files.filter((file) => isJob(file) || basename(file) === SETTINGS || file === path);
  const choices = all.flatMap((file) => choicesIn(file) ?? []);
  if (choices.length > 0) return choices;
  throw problem('E602', {
    what: existsSync(path) ? `${path} says nothing that has to be trusted` : `there is no ${path}`,
    hint: 'give the path of a runsheet.toml, of a job, of a folder with them, or of a state folder',
  });
}

function choicesIn(file: string): Choices | undefined {
  if (!existsSync(file)) return undefined;
  if (isJob(file)) {
    const found = reachAt(file);
    return found.content.length === 0 ? undefined : { found, lines: found.content };
  }
  const found = settingsIn(file);
  return found && { found, lines: linesOf(found) };
}

function sayTrusted(printer: Printer, path: string, lines: readonly string[]): void {
  printer.data(terminalLine(`trusted: ${path}`));
  for (const line of lines) printer.data(terminalLine(`  ${line}`));
}

const sayNext = (printer: Printer, given: string | undefined): void =>
  printer.next(['forget', `runsheet trust --forget${given === undefined ? '' : ` ${shellWord(given)}`}`]);

function listed(printer: Printer): void {
  const notes = trustNotes(ownNotes());
  for (const { path, at } of notes) printer.data(terminalLine(`${path}\t${at}`));
  if (notes.length === 0) printer.notice('nothing is trusted yet');
}

function forgotten(printer: Printer, path: string): void {
  if (forget(ownNotes(), path) > 0) return printer.notice(terminalLine(`no longer trusted: ${path}`));
  throw problem('E602', { what: `${path} is not trusted`, hint: 'list what is: runsheet trust --list' });
}
