import {StringDecoder} from 'node:string_decoder';
import type {PodStatus} from '../../api/v1-status.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {containerId, type ContainerId, type RuntimeService} from '../../cri/index.js';
import type {PodRef} from '../../kubelet/index.js';
import {isRunning, logPathOf, statusOf} from '../../operations/logs/container-log.js';
import type {FollowOptions} from '../../operations/logs/log-source.js';
import {readLog} from '../../operations/logs/read-log.js';
import type {Output} from '../output.js';
import type {SyncRenderer} from './renderer.js';

/** More than any poll waits. */
const LONG_MS = 3_600_000;
/** In characters: what is cut off of output that never ends its line. */
const LONGEST_LINE = 64 * 1024;
const PIECES = new RegExp(`[^]{1,${LONGEST_LINE}}`, 'gu');
const ALL_STREAMS = new Set(['stdout', 'stderr'] as const);

/** What a LogFollower reads and writes with. */
export interface LogFollowerOptions {
  readonly runtime: RuntimeService;
  readonly clock: Clock;
  readonly renderer: SyncRenderer;
  /** Where the renderer writes: no more is read than its reader takes. */
  readonly output: Pick<Output, 'ready'>;
  /** What it aborts is cut off; `end` shows all that there is. */
  readonly signal: AbortSignal;
}

/** Shows the logs of containers line by line, from their start until they end. */
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

  /** Begins with a container that has just been started; one that is followed already is left alone. */
  follow(pod: PodRef, name: string, id: ContainerId): void {
    if (!this.#reading.has(id)) this.#reading.set(id, this.#read(pod, name, id));
  }

  /** Begins with every running container of the status: those that an earlier sync has started. */
  followRunning(pod: PodRef, {initContainerStatuses = [], containerStatuses = []}: PodStatus): void {
    for (const {name, state, containerID} of [...initContainerStatuses, ...containerStatuses])
      if (state?.running !== undefined && containerID !== undefined)
        this.follow(pod, name, containerId(containerID.replace(/^.*:\/\//, '')));
  }

  /** Shows all that has been written so far, and nothing more. */
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
      const logPath = logPathOf(await statusOf(this.#runtime, id, this.#signal));
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
        this.#renderer.note(pod, `the log of container ${name} can't be shown: ${messageOf(error)}`);
    }
    for (const splitter of Object.values(lines)) show(splitter.rest());
  }

  /** Goes on until the container has ended or `end` is called: then nothing is waited for any more. */
  #follow(id: ContainerId): FollowOptions {
    const ending = this.#ending.signal;
    // Once it ends, every look at the clock is long after the one before.
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

/** Cuts bytes into lines, also where a character is cut in two, and a line where it is too long to keep. */
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
