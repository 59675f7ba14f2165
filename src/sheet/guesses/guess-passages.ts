// Asks about a text that has rows only in a part: the messages of a chat, and the tables in a reply.

import { list } from '../../errors/error.ts';
import { shortened } from '../../errors/outside-text.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import { MarkdownTables } from '../trade/markdown-tables.ts';
import { isCommand } from '../trade/midjourney.ts';
import { blocksOf, messagesOf } from '../trade/text-records.ts';
import { alsoMet, conditionAmong } from '../where/condition-word.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import {
  type Alternative,
  type GuessOptions,
  NOTHING,
  or,
  type GuessPart,
  said,
  toConfirm,
} from './guess.ts';
import { NamedLines } from './named-lines.ts';
import { MAX_LINE } from './guess-separator.ts';

const MAX_SHOWN = 3;

/** `listed`: the input of a plain list's lines, and `asList`: the options that read one. */
export async function passageGuesses(
  source: SheetSource,
  options: SheetOptions,
  listed: string | undefined,
  asList: GuessOptions,
): Promise<GuessPart> {
  if (options.format === 'chat') return chatGuesses(source, options, listed, asList);
  if (options.format === 'blocks') return blockGuesses(source, options);
  return options.format === 'markdown' ? tableGuesses(source, options) : NOTHING;
}

async function chatGuesses(
  source: SheetSource,
  options: SheetOptions,
  listed: string | undefined,
  asList: GuessOptions,
): Promise<GuessPart> {
  const notices = new NamedLines();
  const texts: string[] = [];
  const voices = new Voices();
  for await (const { row, text, voice, isNotice, isOfProgram } of messagesOf(source, options)) {
    if (isNotice) notices.put(row, text);
    else if (texts.length < MAX_SHOWN) texts.push(`${voice}: "${shortened(text, 60)}"`);
    if (!isNotice) voices.take(voice, isOfProgram === true);
  }
  const columns = options.columns ?? (listed === undefined || listed === 'text' ? undefined : [listed]);
  const named = columns === undefined ? {} : { columns };
  const { totals } = options;
  if (totals !== undefined) return { options: named, guesses: [said('rows', `messages: ${list(texts)}`)] };
  const settled = { ...named, totals: 'skip' } as const;
  const what = `each message is a text, without its name and time, which are the columns "voice" and "time": ${list(texts, ', ')}, …`;
  const left =
    notices.count === 0
      ? ''
      : `; ${notices.text} ${notices.count === 1 ? 'is no message, and is' : 'are no messages, and are'} left out`;
  const guess = toConfirm(
    'rows',
    `${what}${left}`,
    settled,
    ...(notices.count === 0 ? [] : [or('to send these too', { ...named, totals: 'send' })]),
    ...voices.answers(options.where),
    or('to send each line as it stands', asList),
  );
  return { options: settled, guesses: [{ ...guess, ...(voices.haveProgram && { isChoice: true }) }] };
}

/** Voices that answers name. */
const MAX_VOICES = 4;

/** The names of a chat, some of which may be programs. */
class Voices {
  readonly #names = new Map<string, boolean>();

  take(name: string, isOfProgram: boolean): void {
    if (this.#names.size <= MAX_VOICES) this.#names.set(name, isOfProgram || this.#names.get(name) === true);
  }

  get haveProgram(): boolean {
    return new Set(this.#names.values()).size > 1;
  }

  answers(where: string | undefined): readonly Alternative[] {
    const names = [...this.#names.keys()];
    const programs = names.filter((name) => this.#names.get(name) === true);
    const only = (condition: string): GuessOptions => ({ where: alsoMet(where, condition) });
    const people = this.haveProgram
      ? [or('to leave out what programs wrote', only(conditionAmong('voice', '!=', programs)))]
      : [];
    if (where !== undefined || names.length < 2 || names.length > MAX_VOICES) return people;
    const ofEach = names.filter((name) => name !== '').map((name) => conditionAmong('voice', '=', [name]));
    return [...people, ...ofEach.map((condition) => or('to run the texts of one voice', only(condition)))];
  }
}

/** Asks about the lines of a chat that are no commands. */
export async function commandGuess(
  source: SheetSource,
  { totals, ...options }: SheetOptions,
): Promise<GuessPart> {
  const lines = new NamedLines();
  let [number, commands] = [0, 0];
  for await (const line of linesOf(lenientTextOf(source, options), MAX_LINE)) {
    number += 1;
    if (isCommand(line)) commands += 1;
    else if (line.trim() !== '') lines.put(number, line);
  }
  const text = `the ${commands} lines of this chat that begin with /imagine are the prompts; ${lines.text} ${lines.count === 1 ? 'is' : 'are'} left out`;
  if (totals !== undefined) return { options: {}, guesses: totals === 'skip' ? [said('rows', text)] : [] };
  const settled = { totals: 'skip' } as const;
  const messages = or('to run all messages', { format: 'chat' });
  return { options: settled, guesses: [toConfirm('rows', text, settled, messages)] };
}

async function tableGuesses(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  const [tables, outside] = [new MarkdownTables(), new NamedLines()];
  let number = 0;
  for await (const line of linesOf(lenientTextOf(source, options), MAX_LINE)) {
    number += 1;
    tables.take(line, number);
  }
  for (const { line, text } of tables.outside) outside.put(line, text);
  return outsideGuess(outside, options, 'the tables are read');
}

async function blockGuesses(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  const [blocks, outside] = [await blocksOf(source, options), new NamedLines()];
  let number = 0;
  for await (const line of linesOf(lenientTextOf(source, options), MAX_LINE)) {
    number += 1;
    if (blocks.take(line, number).isOutside) outside.put(number, line);
  }
  return outsideGuess(outside, options, 'each block of labelled texts is a row');
}

function outsideGuess(outside: NamedLines, { format, totals }: SheetOptions, what: string): GuessPart {
  if (outside.count === 0) return NOTHING;
  const text = `${what}; ${outside.text} ${outside.count === 1 ? 'is' : 'are'} outside, and left out`;
  if (totals !== undefined) return { options: {}, guesses: [said('rows', text)] };
  return { options: {}, guesses: [toConfirm('rows', text, { format, totals: 'skip' })] };
}
