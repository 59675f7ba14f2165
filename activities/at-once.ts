/** The results of `work` over `items`, in their order, with at most `most` under way at once. Fails with the first. */
export async function atOnce<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const take = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, take));
  return results;
}
