// Asks a question on a terminal.

import { createInterface } from 'node:readline';

/** What the user chose from `answers`; asks again after any other answer. undefined if the input ends. */
export async function ask<T>(
  { stdin, stderr }: Pick<NodeJS.Process, 'stdin' | 'stderr'>,
  question: string,
  answers: Readonly<Record<string, T>>,
): Promise<T | undefined> {
  const lines = createInterface({ input: stdin, output: stderr });
  lines.setPrompt(question);
  try {
    lines.prompt();
    for await (const answer of lines) {
      if (Object.hasOwn(answers, answer)) return answers[answer];
      lines.prompt();
    }
    return undefined;
  } finally {
    lines.close();
  }
}
