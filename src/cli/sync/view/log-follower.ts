import {StringDecoder} from 'node:string_decoder';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import {containerId, type ContainerId, type RuntimeService} from '../../../cri/index.js';
import type {PodRef} from '../../../kubelet/index.js';
import {isRunning, logPathOf, getContainerStatus} from '../../../operations/logs/container-log.js';
import type {FollowOptions} from '../../../operations/logs/log-source.js';
import {readLog} from '../../../operations/logs/read-log.js';
import type {Output} from '../../output/output.js';
import type {SyncRenderer} from './sync-renderer.js';

/** Duration that exceeds every poll interval, in ms. */
const LONG_MS = 3_600_000;
/** Maximum length of a line, in characters; longer lines are cut. */
const LONGEST_LINE = 64 * 1024;
const PIECES = new RegExp(`[^]{1,${LONGEST_LINE}}`, 'gu');
const ALL_STREAMS = new Set(['stdout', 'stderr'] as const);

/** Options of a LogFollower. */
export interface LogFollowerOptions {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  readonly renderer: SyncRenderer;
  /** Output of the renderer; reading pauses until it is ready. */
  readonly output: Pick<Output, 'ready'>;
  /** Aborts reading immediately, whereas `end` shows everything written up to its call. */
  readonly signal: AbortSignal;
}

/** Shows container logs line by line, from the start of a container until it exits. */
export class LogFollower {
  readonly #runtime: RuntimeService;
  readonly #clock: Clock;
  readonly #renderer: SyncRenderer;
  readonly #output: Pick<Output, 'ready'>;
  readonly #signal: AbortSignal;
  readonly #ending = new AbortController();
  readonly #reading = new Map<string, Promise<void>>();

  constructor({runtime, clock, renderer, output, signal}: LogFollowerOptions) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#renderer = renderer;
    this.#output = output;
    this.#signal = signal;
  }

  /** Follows a container that has just started, unless it is already followed. */
  follow(pod: PodRef, name: string, id: ContainerId): void {
    if (!this.#reading.has(id)) this.#reading.set(id, this.#read(pod, name, id));
  }

  /** Follows every running container of the status, including those that an earlier sync started. */
  followRunning(pod: PodRef, {initContainerStatuses = [], containerStatuses = []}: PodStatus): void {
    for (const {name, state, containerID} of [...initContainerStatuses, ...containerStatuses])
      if (state?.running !== undefined && containerID !== undefined)
        this.follow(pod, name, containerId(containerID.replace(/^.*:\/\//, '')));
  }

  /** Shows everything written up to this call, then stops. */
  async end(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#reading.values());
  }

  async #read(pod: PodRef, name: string, id: ContainerId): Promise<void> {
    const lines = {stdout: new LineSplitter(), stderr: new LineSplitter()};
    const show = (shown: readonly string[]): void => {
      if (shown.length > 0) this.#renderer.log(pod, name, shown);
    };
    try {
      const logPath = logPathOf(await getContainerStatus(this.#runtime, id, this.#signal));
      await readLog(
        logPath,
        {streams: ALL_STREAMS, follow: this.#follow(id), signal: this.#signal},
        {
          write: (stream, bytes) => {
            show(lines[stream].push(bytes));
          },
          ready: async () => {
            await this.#output.ready(this.#signal);
          },
        },
      );
    } catch (error) {
      if (!this.#signal.aborted)
        this.#renderer.note(pod, `cannot show the log of container ${name}: ${messageOf(error)}`);
    }
    for (const splitter of Object.values(lines)) show(splitter.rest());
  }

  /** Returns options that follow the log until the container exits or `end` is called, which skips all waits. */
  #follow(id: ContainerId): FollowOptions {
    const ending = this.#ending.signal;
    // After `end`, each clock reading is long after the previous one.
    let skippedMs = 0;
    return {
      progress: async () => ({
        kind: !ending.aborted && (await isRunning(this.#runtime, id, this.#signal)) ? 'running' : 'ended',
      }),
      clock: {
        now: () => this.#clock.now() + (ending.aborted ? (skippedMs += LONG_MS) : 0),
        sleep: async (ms, signal = this.#signal) => {
          try {
            await this.#clock.sleep(ms, AbortSignal.any([signal, ending]));
          } catch (error) {
            if (!ending.aborted || signal.aborted) throw error;
          }
        },
      },
    };
  }
}

/** Splits bytes into lines. Joins characters that are split between chunks, and cuts lines that are too long. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #begun = '';

  push(bytes: Uint8Array): readonly string[] {
    const lines = (this.#begun + this.#decoder.write(bytes)).split('\n');
    const pieces = lines.some(isLong) ? lines.flatMap(cut) : lines;
    this.#begun = pieces.pop() ?? '';
    return pieces;
  }

  rest(): readonly string[] {
    const rest = this.#begun + this.#decoder.end();
    return rest === '' ? [] : [rest];
  }
}

function isLong(line: string): boolean {
  return line.length > LONGEST_LINE;
}

function cut(line: string): readonly string[] {
  return isLong(line) ? (line.match(PIECES) ?? []) : [line];
}
