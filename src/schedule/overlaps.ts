// What happens if a batch of an earlier firing runs.

export const OVERLAPS = ['skip', 'buffer', 'cancel'] as const;
