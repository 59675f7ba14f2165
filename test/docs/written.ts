// The parts of the docs that are written from data, each between two marks of its page: `npm run docs` writes them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guessList } from './guess-list.ts';
import { DOORS, QUESTIONS, TABLE, type Cell, type Door, type Question } from '../doors/table.ts';

export const ROOT = join(import.meta.dirname, '../..');

type Part = { readonly page: string; readonly mark: string; readonly text: () => string };

export const PARTS: readonly Part[] = [
  { page: 'docs/guarantees.md', mark: 'questions', text: questionsOfDoors },
  { page: 'docs/reading-sheets.md', mark: 'guesses', text: guessList },
];

/** The page with its part as it should be. */
export function pageWith({ page, mark, text }: Part): { readonly is: string; readonly shall: string } {
  const is = readFileSync(join(ROOT, page), 'utf8');
  const [begin, end] = [`<!-- ${mark}: npm run docs -->`, `<!-- /${mark} -->`];
  const [before, behind] = is.split(begin);
  const after = behind?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} has no marks ${begin} … ${end}`);
  return { is, shall: `${before}${begin}\n\n${text()}\n${end}${after}` };
}

function questionsOfDoors(): string {
  return `${(Object.keys(QUESTIONS) as Question[]).map(questionText).join('\n')}\n`;
}

/** Writes one line: the doors that ask or refuse, and the flag that answers beforehand. `plan` reports everything and asks nothing. */
function questionText(question: Question): string {
  const cells = (Object.keys(DOORS) as Door[])
    .filter((door) => door !== 'plan')
    .flatMap((door) => ({ door, ...does(TABLE[question][door]) }))
    .filter(({ does: action }) => action !== undefined);
  const codes = new Set(cells.flatMap(({ code }) => code ?? []));
  const groups = Map.groupBy(cells, ({ does: action, answer }) =>
    action === 'says' ? 'only said' : answer === undefined ? 'refused' : answerText(answer),
  );
  const texts = [...groups].map(([text, of]) => `${of.map(({ door }) => DOORS[door]).join(', ')}: ${text}`);
  return `- **${QUESTIONS[question]}** (${[...codes].join(', ')}). ${texts.join('; ')}.`;
}

const does = (cell: Cell): { does?: string; code?: string; answer?: string } => ('never' in cell ? {} : cell);

const answerText = (answer: string): string =>
  answer
    .split(', ')
    .map((word) => (/^--|[:(]/.test(word) ? `\`${word}\`` : word))
    .join(', ');
