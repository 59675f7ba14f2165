/** What the first failing seed of a simulation says; undefined where none failed. */
export function simulated(said: string): string | undefined {
  return /^seed \d+: .*$/m.exec(said)?.[0].split('; ')[0];
}
