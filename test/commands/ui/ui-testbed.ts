import {once} from 'node:events';
import {onTestFinished} from 'vitest';
import type {Clock} from '../../../src/base/clock.js';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import type {Session} from '../../../src/features/ui/protocol.js';
import {until} from '../../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {realTimeClock} from '../../fakes/fake-clock.js';

/** A clock with short pauses between samples, also those that follow from their costs, but without shorter timeouts. */
export const UI_CLOCK = realTimeClock({sleepMs: (ms) => (isTimeout(ms) ? ms : 20)});

function isTimeout(ms: number): boolean {
  return ms > 2000 && Number.isInteger(ms / 1000);
}

/** The pauses between samples, which a test can make endless. */
export class HeldPauses {
  #isHolding = false;
  /** Number of endless pauses that have not been aborted. */
  held = 0;

  /** The clock of the pauses. */
  readonly clock: Clock = {
    ...UI_CLOCK,
    sleep: async (ms, signal) => {
      if (!this.#isHolding || isTimeout(ms) || signal === undefined) await UI_CLOCK.sleep(ms, signal);
      else await this.#sleepUntilAborted(signal);
    },
  };

  /** Makes all pauses endless that begin from now on. */
  hold(): void {
    this.#isHolding = true;
  }

  async #sleepUntilAborted(signal: AbortSignal): Promise<void> {
    this.held += 1;
    try {
      if (!signal.aborted) await once(signal, 'abort');
      signal.throwIfAborted();
    } finally {
      this.held -= 1;
    }
  }
}

/** Counts the timers of a clock. */
export class CountedTimers {
  /** Number of timers that have begun. */
  begun = 0;
  readonly #pending: number[] = [];

  /** The clock of the timers. */
  readonly clock: Clock = {
    ...UI_CLOCK,
    sleep: async (ms, signal) => {
      this.begun += 1;
      this.#pending.push(ms);
      try {
        await UI_CLOCK.sleep(ms, signal);
      } finally {
        this.#pending.splice(this.#pending.indexOf(ms), 1);
      }
    },
  };

  /** Number of timers that have neither ended nor been aborted. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Their durations, in ms. */
  get pendingText(): string {
    return this.#pending.join();
  }
}

/** Message of the live stream. */
export interface LiveLine {
  readonly kind: 'state' | 'update';
  /** All nodes as of this message. */
  readonly nodes: readonly {
    readonly key: string;
    readonly name: string;
    readonly failure?: string;
    readonly cores?: number;
    readonly disks?: readonly object[];
    readonly runtime?: string;
  }[];
  readonly pods: readonly LivePod[];
  readonly usage?: Readonly<Record<string, readonly (number | null)[]>>;
  readonly removed?: readonly string[];
  readonly history?: Readonly<Record<string, {readonly timesMs: readonly number[]}>>;
}

/** Pod of the live stream. */
export interface LivePod {
  readonly key: string;
  readonly name: string;
  readonly node: string;
  readonly state: string;
  readonly tone: string;
  readonly isStale?: boolean;
  readonly containers: readonly {
    readonly key: string;
    readonly name: string;
    readonly state: string;
    readonly id?: string;
  }[];
}

/** A page of `kcri ui` as a browser opens it. */
export class UiPage {
  readonly link: string;
  /** URL of the page without its token. */
  readonly url: string;
  readonly origin: string;
  key = '';
  session: Session | undefined;

  constructor(link: string) {
    this.link = link;
    this.url = link.split('#')[0] ?? '';
    this.origin = new URL(this.url).origin;
  }

  /** Exchanges the token of the link. */
  async signIn(token = this.link.split('#token=')[1]): Promise<Response> {
    const response = await this.post('/api/session', {token});
    if (response.ok) {
      this.session = (await response.clone().json()) as Session;
      this.key = this.session.key;
    }
    return response;
  }

  async get(
    path: string,
    options: Omit<RequestInit, 'headers'> & {readonly headers?: Readonly<Record<string, string>>} = {},
  ): Promise<Response> {
    const headers = {authorization: `Bearer ${this.key}`, 'sec-fetch-site': 'same-origin'};
    return await fetch(new URL(path, this.url), {...options, headers: {...headers, ...options.headers}});
  }

  /** Returns the JSON that a path answers with. */
  async json<T>(path: string): Promise<T> {
    return (await (await this.get(path)).json()) as T;
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await this.get(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {'content-type': 'application/json', origin: this.origin, ...headers},
    });
  }

  /** Opens the live stream. */
  async live(): Promise<LiveReader> {
    const controller = new AbortController();
    const response = await this.get('/api/live', {signal: controller.signal});
    const reader = new LiveReader(response, controller);
    onTestFinished(() => {
      reader.close();
    });
    return reader;
  }
}

/** Reads a live stream as the page does, and keeps its state. */
export class LiveReader {
  readonly response: Response;
  readonly #controller: AbortController;
  readonly messages: LiveLine[] = [];
  /** The messages as they arrived. */
  readonly lines: string[] = [];
  readonly #nodes = new Map<string, LiveLine['nodes'][number]>();
  readonly pods = new Map<string, LivePod>();
  isClosed = false;

  constructor(response: Response, controller: AbortController) {
    this.response = response;
    this.#controller = controller;
    void this.#read().catch(() => undefined);
  }

  close(): void {
    this.#controller.abort();
  }

  get last(): LiveLine | undefined {
    return this.messages.at(-1);
  }

  pod(name: string): LivePod | undefined {
    return [...this.pods.values()].find((pod) => pod.name === name);
  }

  /** Waits until the state matches. */
  async until(matches: () => boolean): Promise<void> {
    await until(matches, () => JSON.stringify(this.last));
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of this.response.body ?? []) {
        const lines = (rest + decoder.decode(chunk as Uint8Array, {stream: true})).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          this.lines.push(line);
          this.#take(JSON.parse(line) as Partial<LiveLine> & Pick<LiveLine, 'kind'>);
        }
      }
    } finally {
      this.isClosed = true;
    }
  }

  #take({nodes = [], pods = [], ...message}: Partial<LiveLine> & Pick<LiveLine, 'kind'>): void {
    for (const node of nodes) this.#nodes.set(node.key, node);
    for (const key of message.removed ?? []) this.pods.delete(key);
    for (const pod of pods) this.pods.set(pod.key, pod);
    this.messages.push({...message, nodes: [...this.#nodes.values()], pods});
  }
}

/** Returns the path of a request about a pod, a container or a node. */
export function pathOf(path: string, key: string, more: Readonly<Record<string, string>> = {}): string {
  return `${path}?${new URLSearchParams({key, ...more}).toString()}`;
}

/** A running `kcri ui`. */
export interface RunningUi {
  readonly page: UiPage;
  /** Standard output and standard error so far. */
  readonly output: {stdout: string; stderr: string};
  /** Presses Ctrl-C, and returns the result. */
  readonly interrupt: () => Promise<RunResult>;
}

/** Starts `kcri ui` in this process; it ends with the test. */
export async function startUi(args: readonly string[], options: RunOptions = {}): Promise<RunningUi> {
  const controller = new AbortController();
  const output = {stdout: '', stderr: ''};
  let ended = false;
  const running = runKcri(args, {
    clock: UI_CLOCK,
    signal: controller.signal,
    onStdout: (text) => {
      output.stdout += text;
    },
    onStderr: (text) => {
      output.stderr += text;
    },
    ...options,
  }).finally(() => {
    ended = true;
  });
  const interrupt = async (): Promise<RunResult> => {
    controller.abort(new InterruptedError('SIGINT'));
    return await running;
  };
  onTestFinished(async () => {
    await interrupt();
  });
  await until(
    () => ended || output.stdout.includes('\n'),
    () => output.stderr,
  );
  const [link = ''] = output.stdout.split('\n');
  if (!link.startsWith('http')) throw new Error(`kcri ui did not start: ${output.stderr}`);
  return {page: new UiPage(link), output, interrupt};
}
