// Asks a question on a terminal.

import { createInterface } from 'node:readline/promises';

/** True for yes; anything else, also the end of the input, is no. */
export async function ask({ stdin, stderr }: NodeJS.Process, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await Promise.race([
      lines.question(`${question} [y/N] `),
      new Promise<string>((resolve) => lines.once('close', () => resolve(''))),
    ]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
