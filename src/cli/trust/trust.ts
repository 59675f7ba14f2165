// trust: trusts a settings file, job or state folder for this user; lists what is trusted; withdraws trust.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { choicesIn as settingsIn, ownNotes } from '../../host/settings/config.ts';
import { linesOf } from '../../host/settings/settings-files.ts';
import { allowedPrograms } from '../../notices/prepare-targets.ts';
import { trustStateFolder } from '../../host/state-folder.ts';
import { forget, trust, trustNotes, type TrustSubject } from '../../host/settings/trust-notes.ts';
import { batchToTrust } from '../../library/start/foreign-batch.ts';
import { openBatchFolder } from '../../store/batch-folders.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { isJob } from '../job/job-file.ts';
import { reachAt } from '../job/job-reach.ts';

type TrustFlags = { readonly list: boolean; readonly forget: boolean };

const SETTINGS = 'runsheet.toml';

export default async function trustPath(this: Context, flags: TrustFlags, place?: string): Promise<void> {
  const printer = printerFor(this);
  if (flags.list) return listed(printer);
  const path = resolve(place ?? SETTINGS);
  if (flags.forget) return forgotten(printer, path);
  if (isStateFolder(path)) {
    trustStateFolder(path, ownNotes());
    sayTrusted(printer, path, [
      'its keys and schedules count while it stays at this path',
      ...allowedPrograms(path).map((program) => `notifications may start ${program}`),
    ]);
    return sayNext(printer, place);
  }
  const batch = isFolder(path) ? await openBatchFolder(dirname(path), basename(path)) : undefined;
  if (batch !== undefined) {
    trust(ownNotes(), batchToTrust(path, batch.file));
    sayTrusted(printer, path, [`its ${plural(batch.file.sheet.rows, 'row')} may be bought`]);
    return sayNext(printer, place);
  }
  for (const { settings, lines } of choicesAt(path)) {
    trust(ownNotes(), settings);
    sayTrusted(printer, settings.path, lines);
  }
  sayNext(printer, place);
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Recognizes a state folder by its name, or by its marker file. */
const isStateFolder = (path: string): boolean =>
  isFolder(path) && (basename(path) === '.runsheet' || existsSync(join(path, 'instance')));

type Choices = { readonly settings: TrustSubject; readonly lines: readonly string[] };

/** Reads one file, or the settings and jobs of a folder. Throws E602 if there is nothing to trust. */
function choicesAt(path: string): readonly Choices[] {
  const files = isFolder(path) ? readdirSync(path).map((name) => join(path, name)) : [path];
  const candidates = files.filter((file) => isJob(file) || basename(file) === SETTINGS || file === path);
  const choices = candidates.flatMap((file) => choicesIn(file) ?? []);
  if (choices.length > 0) return choices;
  throw problem('E602', {
    what: existsSync(path) ? `${path} says nothing that has to be trusted` : `there is no ${path}`,
    hint: 'give the path of a runsheet.toml, of a job, of a folder with them, or of a state folder',
  });
}

function choicesIn(file: string): Choices | undefined {
  if (!existsSync(file)) return undefined;
  if (isJob(file)) {
    const reach = reachAt(file);
    return reach.content.length === 0 ? undefined : { settings: reach, lines: reach.content };
  }
  const settings = settingsIn(file);
  return settings && { settings, lines: linesOf(settings) };
}

function sayTrusted(printer: Printer, path: string, lines: readonly string[]): void {
  printer.data(terminalLine(`trusted: ${path}`));
  for (const line of lines) printer.data(terminalLine(`  ${line}`));
}

const sayNext = (printer: Printer, place: string | undefined): void =>
  printer.next(['forget', `runsheet trust --forget${place === undefined ? '' : ` ${shellWord(place)}`}`]);

function listed(printer: Printer): void {
  const notes = trustNotes(ownNotes());
  for (const { path, at } of notes) printer.data(terminalLine(`${path}\t${at}`));
  if (notes.length === 0) printer.notice('nothing is trusted yet');
}

function forgotten(printer: Printer, path: string): void {
  if (forget(ownNotes(), path) > 0) return printer.notice(terminalLine(`no longer trusted: ${path}`));
  throw problem('E602', { what: `${path} is not trusted`, hint: 'list what is: runsheet trust --list' });
}
