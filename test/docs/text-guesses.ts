// The guesses about lists, scripts and subtitles, each with a text that shows it.

import type { Guessed } from './guessed.ts';

export const TEXT_GUESSES: readonly Guessed[] = [
  {
    found:
      'a text that is unlike most others of its column: `OMITIDO` or a heading in capitals among sentences, a sign in front, an address, `DE, CZ` among languages, `(same as 1)` among files; and a text with a place that nothing fills, such as `[PRODUCT NAME]`',
    means:
      'sent; only you know the answer, so `--where` leaves it out, `--split` runs each part, and `--null keep` sends it',
    does: 'asked',
    flag: '--null',
    sheet: 'prompt\na fox in deep snow\na crow on a fence\nan owl on a mill\nOMITIDO\n',
  },
  {
    found:
      'a line of subtitles that stands where no cue has it: behind an empty line, above the first cue, or with unclear times',
    means: 'its text, or the times of its cue',
    does: 'asked',
    flag: '--skip-rows',
    sheet: '1\n00:01,000 --> 00:02,000\nHi.\n\nThere.\n',
    set: { prompt: '{text}' },
    file: 'a.srt',
  },
  {
    found:
      'names of speakers before the lines of a `.txt` or of subtitles, such as `TOM: `, for a deployment that speaks',
    means: 'the column `voice`, and in subtitles a row for each speaker',
    does: 'asked',
    flag: '--tags',
    sheet: '1\n00:01,000 --> 00:02,000\nTOM: Hi.\n',
    set: { prompt: '{text}' },
    file: 'a.srt',
  },
  {
    found:
      'lines and cues that are no texts: `[pause]`, `(laughs)`, `* * *`, a name alone, a head such as `Scene 2` above each text',
    means: 'left out; `--skip-rows none` sends all',
    does: 'asked',
    flag: '--skip-rows',
    sheet: 'a fox\n* * *\nan owl\n',
    file: 'a.txt',
  },
  {
    found: 'names of speakers in the cells of a table, for a deployment that speaks',
    means: 'sent with the text',
    does: 'asked',
    flag: '--tags',
    sheet: 'prompt,seed\nTOM: Hi.,1\nANNA: Bye.,2\n',
    inputs: ['voice'],
  },
  {
    found: 'indented lines of a list, and those directly below a number, a bullet or the name of a speaker',
    means: 'they continue the text above; `--tags send` keeps each line',
    does: 'asked',
    flag: '--unquoted',
    sheet: '1. a fox\nin snow\n2. an owl\n  at night\n',
    file: 'a.txt',
  },
  {
    found:
      'lines of a list without what most others have (`/imagine`, parameters of Midjourney), and those below a heading such as `## Tips`',
    means: 'sent; only you know the answer, so `--skip-rows` leaves them out, and `--null keep` sends them',
    does: 'asked',
    flag: '--skip-rows',
    sheet: '/imagine a fox\n/imagine an owl\n/imagine a bee\nready to copy\n',
    file: 'a.txt',
  },
  {
    found: 'lines of a list that a program has broken, as in prose with empty lines between its paragraphs',
    means:
      'one text up to an empty line, also for a word with a hyphen at the end of a line; `--tags send` keeps each line',
    does: 'asked',
    flag: '--tags',
    sheet: 'a fox,\nin snow\n\nan owl,\nat night\n',
    file: 'a.txt',
  },
  {
    found: 'names in capitals alone above a text, as in a screenplay, for a deployment that speaks',
    means: 'the column `voice`; scene headings and numbers of pages are left out',
    does: 'asked',
    flag: '--tags',
    sheet: 'ANNA\nA fox.\n\nTOM\nAn owl.\n',
    file: 'a.txt',
    inputs: ['voice_speed'],
  },
  {
    found: 'clauses before a colon, such as `He asked: `, for a deployment that speaks',
    means: 'a part of the text; `--tags voices` makes them the column `voice`',
    does: 'asked',
    flag: '--tags',
    sheet: 'He asked: where?\nShe said: here.\n',
    file: 'a.txt',
    inputs: ['voice'],
  },
  {
    found:
      'tags in subtitles, such as `<i>` and `{\\an8}`; dashes of their speakers; bullets of a list or of a table of one column (`- `, `1. `, `Prompt 1: `, `[00:12] `)',
    means:
      'the text without them; the voices of `<v Zoé>` are a column, or a row each, as speakers with dashes may be; `&amp;` is &; lines of a list without a bullet are named',
    does: 'asked',
    flag: '--tags',
    sheet: '1\n00:01,000 --> 00:02,000\n<i>Hi.</i>\n',
    set: { prompt: '{text}' },
    file: 'a.srt',
  },
  {
    found: 'a chat or a transcript',
    means: 'each message is a text, its name is the column `voice`, and notices are left out',
    does: 'asked',
    flag: '--totals',
    sheet: '11/3/25, 9:04 PM - Jo: a\n11/3/25, 9:08 PM - Jo: <Media omitted>\n',
    file: 'a.txt',
  },
  {
    found: 'a chat with Midjourney, such as a copy of Discord',
    means: 'the lines that begin with `/imagine` are the prompts, and all others are left out',
    does: 'asked',
    flag: '--totals',
    sheet: 'Jo — 11/03/2025 9:04 PM\n/imagine prompt: a\nMia — 11/03/2025 9:05 PM\nnice\n',
    file: 'a.txt',
  },
  {
    found: 'lines outside of the tables of a Markdown text',
    means: 'left out',
    does: 'asked',
    flag: '--totals',
    sheet: 'Sure!\n\n| prompt | seed |\n|---|---|\n| a | 1 |\n',
    file: 'a.md',
  },
  {
    found: 'fences in a `.md` or `.txt`, and what stands outside them',
    means: 'left out; the lines inside are the texts',
    does: 'asked',
    flag: '--skip-rows',
    sheet: 'Two prompts:\n\n```\na fox, in ink\nan owl\n```\n',
    file: 'reply.txt',
  },
  {
    found: 'heads in capitals whose other cells a template lacks',
    means: 'left out; `--skip-rows none` sends them',
    does: 'asked',
    flag: '--skip-rows',
    sheet: 'Dish,Desc\nSTARTERS,\nSoup,with bread\nMAINS,\nStew,with rice\n',
    set: { prompt: '{Dish}, {Desc}' },
  },
  {
    found: 'members of the object that has the prompt, of which other inputs have the names',
    means: 'sent too; `--drop` of the object leaves them out',
    does: 'asked',
    flag: '--map',
    sheet: '{"id":1,"width":64,"meta":{"prompt":"a fox","seed":5}}\n',
    inputs: ['width'],
    file: 'a.jsonl',
  },
  {
    found: 'a list where an input takes one value',
    means: 'its first part that fits: `tags.0`, `images.0.src`; left out if none does',
    does: 'asked',
    flag: '--map',
    sheet: '{"id":1,"prompt":["a fox","an owl"]}\n',
    file: 'a.jsonl',
  },
  {
    found: 'several files in a cell whose input takes one: `front.jpg, back.jpg`',
    means: 'the first of each row: `image.0`; `--split` runs each',
    does: 'asked',
    flag: '--map',
    sheet: 'prompt,image\na fox,"https://a.example/1.png, https://a.example/2.png"\n',
  },
];
