// Weighted max-min fairness in whole slots.

export type Claim = { readonly weight: number; readonly wanted: number };

/**
 * Divides slots in proportion to the weights. None gets more than it wants; what it leaves is divided among the others. The
 * sum is the smaller one of `slots` and everything that is wanted.
 */
export function shares(slots: number, claims: readonly Claim[]): readonly number[] {
  const given = claims.map(() => 0);
  const at = (index: number): Claim => claims[index] as Claim;
  let open = claims.flatMap(({ wanted }, index) => (wanted > 0 ? [index] : []));
  let left = Math.max(0, slots);
  let each = 0;
  while (open.length > 0) {
    each = left / open.reduce((sum, index) => sum + at(index).weight, 0);
    const content = open.filter((index) => at(index).wanted <= each * at(index).weight);
    if (content.length === 0) break;
    for (const index of content) left -= given[index] = at(index).wanted;
    open = open.filter((index) => !content.includes(index));
  }
  for (const index of open) left -= given[index] = Math.floor(each * at(index).weight);
  const behind = (index: number): number => ((given[index] as number) + 1) / at(index).weight;
  // Fewer than there are claims.
  for (const index of open.toSorted((a, b) => behind(a) - behind(b)).slice(0, left))
    given[index] = (given[index] as number) + 1;
  return given;
}
