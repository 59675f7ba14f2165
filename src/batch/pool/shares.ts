// Divides slots by weighted max-min fairness.

export type Claim = { readonly weight: number; readonly wanted: number };

/**
 * Divides slots in proportion to the weights. No claim gets more than it
 * wants; slots that a claim leaves are divided among the others. The sum is the smaller of `slots` and everything
 * that is wanted.
 */
export function shares(slots: number, claims: readonly Claim[]): readonly number[] {
  const granted = claims.map(() => 0);
  const at = (index: number): Claim => claims[index] as Claim;
  let open = claims.flatMap(({ wanted }, index) => (wanted > 0 ? [index] : []));
  let left = Math.max(0, slots);
  let each = 0;
  while (open.length > 0) {
    each = left / open.reduce((sum, index) => sum + at(index).weight, 0);
    const content = open.filter((index) => at(index).wanted <= each * at(index).weight);
    if (content.length === 0) break;
    for (const index of content) left -= granted[index] = at(index).wanted;
    open = open.filter((index) => !content.includes(index));
  }
  for (const index of open) left -= granted[index] = Math.floor(each * at(index).weight);
  const behind = (index: number): number => ((granted[index] as number) + 1) / at(index).weight;
  // Fewer slots are left than there are claims.
  for (const index of open.toSorted((a, b) => behind(a) - behind(b)).slice(0, left))
    granted[index] = (granted[index] as number) + 1;
  return granted;
}
