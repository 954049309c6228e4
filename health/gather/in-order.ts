/**
 * Runs `work` on items with at most `concurrency` under way and yields the results in the items' order. Holds no more than
 * `concurrency` results, so that memory does not grow with the stream.
 */
export async function* inOrder<A, B>(
  items: Iterable<A> | AsyncIterable<A>,
  concurrency: number,
  work: (item: A) => Promise<B>,
): AsyncGenerator<B, void, undefined> {
  const underWay: Promise<B>[] = [];
  for await (const item of items) {
    const started = work(item);
    // Its failure is met when its turn comes; until then it must not count as unhandled.
    started.catch(() => undefined);
    underWay.push(started);
    if (underWay.length < concurrency) continue;
    const next = underWay.shift();
    if (next) yield await next;
  }
  for (const next of underWay) yield await next;
}
