import {onAbort} from '../../../base/async/abort-callbacks.js';
import type {UiSnapshot} from './ui-sampler.js';

/** Change between two samples, as texts in JSON by key. */
export interface LiveChange {
  readonly nowMs: number;
  /** Nodes that differ. */
  readonly nodes: ReadonlyMap<string, string>;
  /** Pods that are new or differ; undefined for a pod that is gone. */
  readonly pods: ReadonlyMap<string, string | undefined>;
  /** Usage of pods that differs. */
  readonly usage: ReadonlyMap<string, string>;
}

/**
 * Changes on their way to a page. A page that reads slowly gets the changes since its last message in one: what waits for
 * it never has more than one text per node, pod and usage.
 */
export class LiveStream {
  #pending: LiveChange | undefined;
  #notify: (() => void) | undefined;

  /** Adds a change. */
  push(change: LiveChange): void {
    const before = this.#pending;
    this.#pending =
      before === undefined
        ? change
        : {
            nowMs: change.nowMs,
            nodes: new Map([...before.nodes, ...change.nodes]),
            pods: new Map([...before.pods, ...change.pods]),
            usage: new Map([...before.usage, ...change.usage]),
          };
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
        const forget = onAbort(signal, () => {
          reject(signal.reason as Error);
        });
        this.#notify = () => {
          forget();
          resolve();
        };
      });
    } finally {
      this.#notify = undefined;
    }
  }
}

/** Returns the line of a message to the page. A message about nothing has only the time. */
export function updateLine({nowMs, nodes, pods, usage}: LiveChange): string {
  const present = [...pods.values()].filter((text) => text !== undefined);
  const removed = [...pods].flatMap(([key, text]) => (text === undefined ? [JSON.stringify(key)] : []));
  const gone = new Set([...pods].flatMap(([key, text]) => (text === undefined ? [key] : [])));
  const used = [...usage].filter(([key]) => !gone.has(key));
  const parts = [
    ...(nodes.size === 0 ? [] : [`"nodes":[${[...nodes.values()].join(',')}]`]),
    ...(present.length === 0 ? [] : [`"pods":[${present.join(',')}]`]),
    ...(used.length === 0 ? [] : [`"usage":${usageText(used)}`]),
    ...(removed.length === 0 ? [] : [`"removed":[${removed.join(',')}]`]),
  ];
  return `${[`{"kind":"update","nowMs":${nowMs}`, ...parts].join(',')}}\n`;
}

/** Returns an object in JSON of texts in JSON by key. */
export function usageText(usage: Iterable<readonly [string, string]>): string {
  return `{${Array.from(usage, ([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** Texts of all nodes, pods and usages at one point in time, by key. */
export interface LiveTexts extends Pick<UiSnapshot, 'nowMs' | 'podTexts' | 'usageTexts'> {
  readonly nodeTexts: ReadonlyMap<string, string>;
}

/** Returns what changed between two samples. Without one before, everything did. */
export function changeSince(before: LiveTexts | undefined, after: LiveTexts): LiveChange {
  const pods = new Map<string, string | undefined>(differing(before?.podTexts, after.podTexts));
  const usage = differing(before?.usageTexts, after.usageTexts);
  for (const key of pods.keys()) {
    const text = after.usageTexts.get(key);
    if (text !== undefined) usage.set(key, text);
  }
  for (const key of before?.podTexts.keys() ?? []) if (!after.podTexts.has(key)) pods.set(key, undefined);
  return {nowMs: after.nowMs, nodes: differing(before?.nodeTexts, after.nodeTexts), pods, usage};
}

function differing(
  before: ReadonlyMap<string, string> | undefined,
  after: ReadonlyMap<string, string>,
): Map<string, string> {
  const changed = new Map<string, string>();
  // Most texts are the same objects, which are compared at once.
  for (const [key, text] of after) if (before?.get(key) !== text) changed.set(key, text);
  return changed;
}
