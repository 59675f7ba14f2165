// Numbers as people read them, and amounts as files store them.

export const count = (number: number): string => number.toLocaleString('en-US');

export const plural = (number: number, word: string, several = `${word}s`): string =>
  `${count(number)} ${number === 1 ? word : several}`;

export const money = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;

/** Amounts as files and JSON store them. */
export const rounded = (number: number): number => Number(number.toFixed(6));
