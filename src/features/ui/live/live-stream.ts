/** What changed, with the texts of pods in JSON, by key; undefined for a pod that is gone. */
export interface LiveChange {
  readonly nowMs: number;
  /** All nodes, in JSON. */
  readonly nodes: string;
  readonly pods: ReadonlyMap<string, string | undefined>;
}

/**
 * Changes on their way to a page. A page that reads slowly gets the changes since its last message in one: what waits for
 * it never has more than one text per pod.
 */
export class LiveStream {
  #pending: LiveChange | undefined;
  #notify: (() => void) | undefined;

  /** Adds a change. */
  push(change: LiveChange): void {
    const before = this.#pending;
    this.#pending =
      before === undefined ? change : {...change, pods: new Map([...before.pods, ...change.pods])};
    this.#notify?.();
  }

  /** Resolves with what changed since the last call, as soon as something did. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<LiveChange> {
    signal.throwIfAborted();
    if (this.#pending === undefined) await this.#pushed(signal);
    const change = this.#pending;
    this.#pending = undefined;
    if (change === undefined) throw new TypeError('a stream was read twice at the same time');
    return change;
  }

  async #pushed(signal: AbortSignal): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        const abort = (): void => {
          reject(signal.reason as Error);
        };
        this.#notify = () => {
          signal.removeEventListener('abort', abort);
          resolve();
        };
        signal.addEventListener('abort', abort, {once: true});
      });
    } finally {
      this.#notify = undefined;
    }
  }
}

/** Returns the line of a message to the page. */
export function updateLine({nowMs, nodes, pods}: LiveChange): string {
  const present = [...pods.values()].filter((text) => text !== undefined).join(',');
  const removed = [...pods].flatMap(([key, text]) => (text === undefined ? [key] : []));
  return `{"kind":"update","nowMs":${nowMs},"nodes":${nodes},"pods":[${present}],"removed":${JSON.stringify(removed)}}\n`;
}

/** Returns what changed between two samples of all pods. */
export function changedPods(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ReadonlyMap<string, string | undefined> {
  const changed = [...after].filter(([key, text]) => before.get(key) !== text);
  const removed = [...before.keys()].filter((key) => !after.has(key));
  return new Map<string, string | undefined>([
    ...changed,
    ...removed.map((key) => [key, undefined] as const),
  ]);
}
