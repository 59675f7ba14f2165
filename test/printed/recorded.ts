// The lines that a test took commands from and pasted, kept beside the tests: a run compares them with the lines of before, so a
// command that is no longer pasted is missed, and printed.test.ts finds texts that no test pastes.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsIn } from '../errors/printed-commands.ts';

export const RECORDS = join(import.meta.dirname, 'pasted');

/** Texts that differ from run to run, and their replacements. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?:/tmp|${tmpdir()})/[\\w.-]+`, 'g'), '<folder>'],
  [/\bnode \S+\/bin\/runsheet\.mjs/g, 'runsheet'],
  [/http:\/\/[\w.]+:\d+/g, '<service>'],
  [/\b127\.0\.0\.1:\d+/g, '<address>'],
  [/\b[\da-f]{12}\b/g, '<hash>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z?|\b\d{8}T\d{6}Z/g, '<time>'],
  [/\b(pid|kill) \d+/g, '$1 <n>'],
  [/\d+(?:\.\d+)? (?:ms|s|min)\b/g, '<duration>'],
];

export class Recorded {
  readonly #lines = new Set<string>();

  /** Keeps the lines of a text that contain this command. */
  add(printed: string, command: string): void {
    for (const line of printed.split('\n'))
      if (commandsIn(line).includes(command))
        this.#lines.add(VOLATILE.reduce((text, [what, mark]) => text.replace(what, mark), line.trimEnd()));
  }

  /** The recorded lines, sorted. */
  get text(): string {
    return `${[...this.#lines].toSorted().join('\n')}\n`;
  }
}

/** The file that a suite's lines are compared with; `vitest -u` writes it anew. */
export const recordOf = (suite: string): string => join(RECORDS, `${suite}.txt`);
