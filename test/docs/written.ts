// The parts of the docs that are written from data, each between two marks of its page: `npm run docs` writes them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guessTable } from './guesses.ts';
import { killsText } from '../chaos/long/page.ts';
import { DOORS, QUESTIONS, TABLE, type Cell, type Door, type Question } from '../doors/table.ts';

export const ROOT = join(import.meta.dirname, '../..');

type Part = { readonly page: string; readonly mark: string; readonly text: () => string };

export const PARTS: readonly Part[] = [
  { page: 'docs/evidence.md', mark: 'kills', text: killsText },
  { page: 'docs/guarantees.md', mark: 'questions', text: questionsOfDoors },
  { page: 'docs/reading-sheets.md', mark: 'guesses', text: guessTable },
];

/** The page with its part as it should be. */
export function pageWith({ page, mark, text }: Part): { readonly is: string; readonly shall: string } {
  const is = readFileSync(join(ROOT, page), 'utf8');
  const [begin, end] = [`<!-- ${mark}: npm run docs -->`, `<!-- /${mark} -->`];
  const [before, rest] = is.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} has no marks ${begin} … ${end}`);
  return { is, shall: `${before}${begin}\n\n${text()}\n${end}${after}` };
}

function questionsOfDoors(): string {
  return (Object.keys(QUESTIONS) as Question[]).map(questionText).join('\n');
}

function questionText(question: Question): string {
  const groups = Map.groupBy(Object.keys(DOORS) as Door[], (door) => cellText(TABLE[question][door]));
  const lines = [...groups].map(
    ([text, doors]) => `- ${doors.map((door) => DOORS[door]).join(', ')}: ${text}`,
  );
  return [`**${QUESTIONS[question]}**`, '', ...lines, ''].join('\n');
}

function cellText(cell: Cell): string {
  if ('never' in cell) return `never: ${cell.never}`;
  const { does, code, answer } = cell;
  const otherwise = does === 'says' ? does : `${does}${code === undefined ? '' : ` (${code})`}`;
  if (answer === undefined) return otherwise;
  const words = answer.split(', ').map((word) => (/^--|[:(]/.test(word) ? `\`${word}\`` : word));
  return `${otherwise}; answered by ${words.join(', ')}`;
}
