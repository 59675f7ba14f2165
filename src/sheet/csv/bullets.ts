// Bullets and numbers in front of the lines of a list: `- a fox`, `• a fox`, `1. a fox`, `2) a fox`, `Prompt 3: a fox`; boxes to
// tick: `- [x] a fox`; and the times of lyrics: `[00:12.50] Hello`.

const BULLET =
  /^\s*(?:[-*+•‣▪◦·–—]|(?:\d{1,4}|[a-z])[.)]|\(\d{1,4}\)|(?:prompt|scene|shot|image|szene|bild|scène|escena) ?#?\d{1,4} ?[:.)]|\[(?:\d+:)?\d{1,2}:\d{2}(?:[.:]\d+)?\])\s+(?:\[[ x]\]\s+)?(?=\S)/i;

/** `1. `, or undefined. */
export const bulletIn = (line: string): string | undefined => BULLET.exec(line)?.[0].trimStart();

export const withoutBullet = (line: string): string => line.replace(BULLET, '');

/** Whether the line is indented and has no bullet, as one that continues the line above. */
export const isIndented = (line: string): boolean => /^\s+\S/.test(line) && bulletIn(line) === undefined;
