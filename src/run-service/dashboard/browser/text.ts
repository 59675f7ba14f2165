// Numbers and times, as the dashboard shows them.

export const count = (number: number): string => number.toLocaleString('en');

export function span(seconds: number): string {
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return seconds < 5_400 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
