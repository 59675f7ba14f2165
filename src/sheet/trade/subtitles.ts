// Cues of SubRip (.srt) and WebVTT (.vtt): a number or a name, a line with times, and lines of text up to an empty one.
// Source: https://www.w3.org/TR/webvtt1/#file-structure; SubRip has no specification of its own. No text is lost: what
// stands at a wrong place is read, and noted so that the user is asked.
//
//   times ──► cue is open ──empty line──► cue waits ──times or end──► cue is taken
//                  ▲                          │ text: joins the cue, with a note
//                  └──────────times───────────┘

import type { TextRow } from './text-row.ts';

/** `00:00:01,000 --> 00:00:03,500`, with hours or without, and settings after the times. */
export const CUE_TIME =
  /^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s.*)?$/;

/** A line that was meant to have times: `00:00:01,000 -> 00:00:03`, `Typo.000 --> 00:03.500`. */
const LOOSE_TIME =
  /^(?<start>.*?)\s*-->\s*(?<end>.*)$|^(?<from>\d+:\d\S*?)\s*(?:[-–—=]*[>→]|→|\s)\s*(?<to>\d+:\d\S*)/u;

const DIGITS = /^\d+$/;

/** The blocks of WebVTT that are no cues. */
const NO_CUE = /^(?:NOTE|STYLE|REGION)(?:\s|$)/;

/** A line that does not stand where a cue has it: `behind`: text after an empty line; `alone`: text before any cue. */
export type CueNote = {
  readonly is: 'behind' | 'alone' | 'times' | 'number';
  readonly line: number;
  readonly text: string;
};

export type Cue = TextRow & { readonly notes: readonly CueNote[] };

type Line = { readonly text: string; readonly line: number };

type OpenCue = {
  readonly row: number;
  readonly times: readonly string[];
  index: string;
  notes: CueNote[];
  lines: string[];
};

/** Collects lines into cues of the columns index, start, end and text; `index` is the number or the name, or how many cues there were. */
export class Cues {
  #cue: OpenCue | undefined;
  #isOpen = false;
  /** Lines after an empty one, which may be the name of a cue. */
  #before: Line[] = [];
  /** A number between empty lines. */
  #number: Line | undefined;
  #isIgnored = false;
  #isVtt = false;
  #count = 0;
  #hasLines = false;
  readonly #isLeftOut: (line: number) => boolean;

  /** `isLeftOut`: whether the user leaves out a line. Without the line of its times, all of a cue goes. */
  constructor(isLeftOut: (line: number) => boolean = () => false) {
    this.#isLeftOut = isLeftOut;
  }

  /** Takes a line, and returns the cues that it ends. */
  take(line: string, row: number): readonly Cue[] {
    const text = line.trim();
    if (!this.#hasLines && /^WEBVTT(?:\s|$)/.test(text)) this.#isVtt = this.#isIgnored = true;
    this.#hasLines ||= text !== '';
    const times = this.#timesIn(text);
    if (times !== undefined) return this.#begin({ text, line: row }, times);
    if (text === '') return this.#endBlock();
    if (this.#isLeftOut(row)) return [];
    const isFirst = !this.#isOpen && this.#before.length === 0;
    if (this.#isVtt && isFirst && NO_CUE.test(text)) this.#isIgnored = true;
    if (this.#isIgnored) return [];
    if (this.#isOpen) this.#cue?.lines.push(text);
    else this.#before.push({ text, line: row });
    return [];
  }

  /** The cues that the end of the file ends. */
  end(): readonly Cue[] {
    return [...this.#endBlock(), ...this.#stray([this.#number]), ...this.#take()];
  }

  /** Unclear times count only where a cue may begin. */
  #timesIn(text: string): readonly string[] | undefined {
    const [, start, end] = CUE_TIME.exec(text) ?? [];
    if (start !== undefined && end !== undefined) return [start, end];
    const above = this.#isOpen ? this.#cue?.lines.at(-1) : this.#before.at(-1)?.text;
    const isPlace = this.#isOpen
      ? DIGITS.test(above ?? '')
      : this.#before.length === 0 || DIGITS.test(above ?? '') || (this.#isVtt && this.#before.length === 1);
    const loose = isPlace && !this.#isIgnored ? LOOSE_TIME.exec(text)?.groups : undefined;
    return loose && [loose.start ?? loose.from ?? '', loose.end ?? loose.to ?? ''];
  }

  #begin(line: Line, times: readonly string[]): readonly Cue[] {
    const notes: CueNote[] = CUE_TIME.test(line.text) ? [] : [{ is: 'times', ...line }];
    const last = this.#isOpen ? this.#cue?.lines.at(-1) : undefined;
    let index: string | undefined;
    if (last !== undefined && DIGITS.test(last)) {
      this.#cue?.lines.pop();
      notes.push({ is: 'number', text: last, line: line.line - 1 });
      index = last;
    }
    const ended: Cue[] = [];
    if (!this.#isOpen) {
      const name = this.#nameBefore();
      ended.push(...this.#stray([name === undefined || this.#before.length > 0 ? this.#number : undefined]));
      if (name !== undefined && this.#before.at(-1) === name) this.#before.pop();
      ended.push(...this.#stray(this.#before));
      index = name?.text;
    }
    [this.#before, this.#number] = [[], undefined];
    ended.push(...this.#take());
    this.#count += 1;
    this.#cue = { row: line.line, times, index: index ?? String(this.#count), notes, lines: [] };
    [this.#isOpen, this.#isIgnored] = [true, false];
    return ended;
  }

  /** The line above the times that names their cue. */
  #nameBefore(): Line | undefined {
    const last = this.#before.at(-1);
    if (last === undefined) return this.#number;
    return DIGITS.test(last.text) || (this.#isVtt && this.#before.length === 1) ? last : undefined;
  }

  #endBlock(): readonly Cue[] {
    [this.#isOpen, this.#isIgnored] = [false, false];
    const lines = this.#before;
    if (lines.length === 0) return [];
    const ended = this.#stray([this.#number]);
    const [first] = lines;
    const isNumber = lines.length === 1 && first !== undefined && DIGITS.test(first.text);
    [this.#before, this.#number] = [[], isNumber ? first : undefined];
    return isNumber ? ended : [...ended, ...this.#stray(lines)];
  }

  /** Adds lines without times to the cue above, or makes them a cue. */
  #stray(strays: readonly (Line | undefined)[]): readonly Cue[] {
    const lines = strays.filter((line) => line !== undefined);
    const [first] = lines;
    if (first === undefined) return [];
    if (this.#cue !== undefined) {
      this.#cue.lines.push(...lines.map(({ text }) => text));
      this.#cue.notes.push(...lines.map((line) => ({ is: 'behind', ...line }) as const));
      return [];
    }
    const text = lines.map((line) => line.text).join('\n');
    const notes = lines.map((line) => ({ is: 'alone', ...line }) as const);
    return [{ row: first.line, cells: { index: `line ${first.line}`, start: '', end: '', text }, notes }];
  }

  /** The cue, which has ended. Its lines stay lines. */
  #take(): readonly Cue[] {
    const cue = this.#cue;
    [this.#cue, this.#isOpen] = [undefined, false];
    if (cue === undefined) return [];
    const { row, index, notes, lines } = cue;
    const [start = '', end = ''] = cue.times;
    return [{ row, cells: { index, start, end, text: lines.join('\n') }, notes }];
  }
}
