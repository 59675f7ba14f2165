// Numbers as people read them.

export const count = (number: number): string => number.toLocaleString('en-US');

export const plural = (number: number, word: string, several = `${word}s`): string =>
  `${count(number)} ${number === 1 ? word : several}`;
