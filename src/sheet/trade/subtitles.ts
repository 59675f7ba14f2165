// Cues of SubRip (.srt) and WebVTT (.vtt): a number or a name, a line with times, and lines of text up to an empty one.
// Source: https://www.w3.org/TR/webvtt1/#file-structure; SubRip has no specification of its own.

import type { TextRow } from './text-row.ts';

/** `00:00:01,000 --> 00:00:03,500`, with hours or without, and settings behind the times. */
export const CUE_TIME =
  /^((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})(?:\s.*)?$/;

/** Collects lines into cues of the columns index, start, end and text; `index` is the number or the name. A block without times, such as a note or a style, is none. */
export class Cues {
  #name = '';
  #cue:
    | { readonly row: number; readonly cells: Record<string, string>; readonly lines: string[] }
    | undefined;

  /** Takes a line, and returns the cue that it ends. */
  take(line: string, row: number): TextRow | undefined {
    const text = line.trim();
    const [, start, end] = CUE_TIME.exec(text) ?? [];
    if (start !== undefined && end !== undefined) {
      const index = this.#name;
      const ended = this.end();
      this.#cue = { row, cells: { index, start, end }, lines: [] };
      return ended;
    }
    if (text === '') return this.end();
    if (this.#cue === undefined) this.#name = text;
    else this.#cue.lines.push(text);
    return undefined;
  }

  /** The cue that the end of the file ends. Its lines stay lines. */
  end(): TextRow | undefined {
    const cue = this.#cue;
    [this.#cue, this.#name] = [undefined, ''];
    return cue && { row: cue.row, cells: { ...cue.cells, text: cue.lines.join('\n') } };
  }
}
