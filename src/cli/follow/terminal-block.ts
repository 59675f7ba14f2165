// A block of lines at the bottom of a terminal, redrawn in place.

import cliTruncate from 'cli-truncate';

export type TerminalBlock = {
  draw(lines: readonly string[]): void;
  note(text: string): void;
  end(): void;
};

export type BlockStream = Pick<NodeJS.WriteStream, 'write' | 'columns'>;

const COLUMNS = 80;

export const columnsOf = ({ columns }: Pick<BlockStream, 'columns'>): number => columns || COLUMNS;

export function openBlock(stream: BlockStream): TerminalBlock {
  let drawn: readonly string[] = [];
  const clear = (): string => (drawn.length > 0 ? `\u001B[${drawn.length}A\u001B[0J` : '');
  const draw = (lines: readonly string[], above = ''): void => {
    // A line that wraps would take two lines of the screen, and only one of them would be cleared.
    const fitting = lines.map((line) => cliTruncate(line, columnsOf(stream) - 1));
    stream.write(`${clear()}${above}${fitting.map((line) => `${line}\n`).join('')}`);
    drawn = fitting;
  };
  return {
    draw: (lines) => draw(lines),
    note: (text) => draw(drawn, `${text}\n`),
    end: () => (drawn = []),
  };
}
