import {StringDecoder} from 'node:string_decoder';
import {onAbort} from '../../../base/async/abort-callbacks.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {anySignal} from '../../../base/async/any-signal.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import {containerId, type ContainerId, type RuntimeService} from '../../../cri/index.js';
import type {PodRef} from '../../../kubelet/index.js';
import {logPathOf, getContainerStatus} from '../../../operations/logs/container-log.js';
import {isRunning} from '../../../operations/logs/follow/container-state.js';
import type {FollowOptions} from '../../../operations/logs/follow/follow-options.js';
import {readLog} from '../../../operations/logs/read-log.js';
import type {Output} from '../../../cli/output/output.js';
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
  /**
   * Signal that limits the time of `end` and `endPod`. Until they are called, logs are followed even after it aborts,
   * since containers write their last lines while they are stopped.
   */
  readonly signal: AbortSignal;
}

/** Time for the last lines after the signal has aborted, in ms: the reader of the output may have stopped reading. */
const LAST_LINES_MS = 2000;

interface FollowedContainer {
  readonly id: ContainerId;
  /** Aborts when the log is no longer followed. */
  readonly ending: AbortSignal;
}

interface Reading {
  readonly uid: string;
  readonly done: Promise<void>;
  readonly ending: AbortController;
}

/** Shows container logs line by line, from the start of a container until it exits. */
export class LogFollower {
  readonly #runtime: RuntimeService;
  readonly #clock: Clock;
  readonly #renderer: SyncRenderer;
  readonly #output: Pick<Output, 'ready'>;
  readonly #interrupted: AbortSignal;
  /** Aborts reading immediately. */
  readonly #abort = new AbortController();
  readonly #reading = new Map<string, Reading>();

  constructor({runtime, clock, renderer, output, signal}: LogFollowerOptions) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#renderer = renderer;
    this.#output = output;
    this.#interrupted = signal;
  }

  /** Follows a container that has just started, unless it is already followed. */
  follow(pod: PodRef, name: string, id: ContainerId): void {
    if (this.#reading.has(id)) return;
    const ending = new AbortController();
    this.#reading.set(id, {uid: pod.uid, ending, done: this.#read(pod, name, {id, ending: ending.signal})});
  }

  /** Follows every container of the status that has started, including those that an earlier sync started. */
  followStarted(pod: PodRef, {initContainerStatuses = [], containerStatuses = []}: PodStatus): void {
    for (const {name, state, containerID} of [...initContainerStatuses, ...containerStatuses])
      if (containerID !== undefined && (state?.running ?? state?.terminated) !== undefined)
        this.follow(pod, name, containerId(containerID.replace(/^.*:\/\//, '')));
  }

  /** Shows everything written up to this call, then stops. */
  async end(): Promise<void> {
    await this.#end([...this.#reading.values()]);
  }

  /** Shows everything that the containers of a pod have written up to this call, then stops following them. */
  async endPod({uid}: PodRef): Promise<void> {
    await this.#end([...this.#reading.values()].filter((reading) => reading.uid === uid));
  }

  async #end(readings: readonly Reading[]): Promise<void> {
    for (const {ending} of readings) ending.abort();
    const finished = new AbortController();
    const limit = (): void => {
      this.#clock.sleep(LAST_LINES_MS, finished.signal).then(
        () => {
          this.#abort.abort();
        },
        () => undefined, // everything was shown in time
      );
    };
    if (this.#interrupted.aborted) limit();
    const forget = onAbort(this.#interrupted, limit);
    await Promise.all(readings.map(async ({done}) => done));
    forget();
    finished.abort();
  }

  async #read(pod: PodRef, container: string, {id, ending}: FollowedContainer): Promise<void> {
    const {signal} = this.#abort;
    const lines = {stdout: new LineSplitter(), stderr: new LineSplitter()};
    const show = (stream: 'stdout' | 'stderr', shown: readonly string[]): void => {
      if (shown.length > 0) this.#renderer.log(pod, {container, stream}, shown);
    };
    try {
      const logPath = logPathOf(await getContainerStatus(this.#runtime, id, signal));
      await readLog(
        logPath,
        {streams: ALL_STREAMS, follow: this.#follow(id, ending), signal},
        {
          write: (stream, bytes) => {
            show(stream, lines[stream].push(bytes));
          },
          ready: async () => {
            await this.#output.ready(signal);
          },
        },
      );
    } catch (error) {
      if (!signal.aborted)
        this.#renderer.note(pod, `cannot show the log of container ${container}: ${messageOf(error)}`);
    }
    for (const stream of ALL_STREAMS) show(stream, lines[stream].rest());
  }

  /** Returns options that follow the log until the container exits or `ending` aborts, which skips all waits. */
  #follow(id: ContainerId, ending: AbortSignal): FollowOptions {
    const aborted = this.#abort.signal;
    // After `end`, each clock reading is long after the previous one.
    let skippedMs = 0;
    return {
      progress: async () => ({
        kind: !ending.aborted && (await isRunning(this.#runtime, id, aborted)) ? 'running' : 'ended',
      }),
      clock: {
        now: () => this.#clock.now(),
        monotonic: () => this.#clock.monotonic() + (ending.aborted ? (skippedMs += LONG_MS) : 0),
        sleep: async (ms, signal = aborted) => {
          try {
            using either = anySignal(signal, ending);
            await this.#clock.sleep(ms, either.signal);
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
