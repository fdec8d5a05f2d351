import {StringDecoder} from 'node:string_decoder';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';
import type {PodRef} from '../../kubelet/index.js';
import {isRunning, logPathOf} from '../../operations/logs/container-log.js';
import {readLog} from '../../operations/logs/read-log.js';
import type {SyncRenderer} from './renderer.js';

const ALL_STREAMS = new Set(['stdout', 'stderr'] as const);

/** Shows the logs of containers line by line, from their start until they end. */
export class LogFollower {
  readonly #runtime: RuntimeService;
  readonly #clock: Clock;
  readonly #renderer: SyncRenderer;
  readonly #stopped = new AbortController();
  readonly #reading: Promise<void>[] = [];

  constructor(runtime: RuntimeService, clock: Clock, renderer: SyncRenderer) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#renderer = renderer;
  }

  /** Begins with a container that has just been started. */
  follow(pod: PodRef, name: string, id: ContainerId): void {
    this.#reading.push(this.#read(pod, name, id));
  }

  /** Shows the rest of what has ended; with `stop` without waiting for what still runs. */
  async end({stop}: {readonly stop: boolean}): Promise<void> {
    if (stop) this.#stopped.abort();
    await Promise.all(this.#reading);
  }

  async #read(pod: PodRef, name: string, id: ContainerId): Promise<void> {
    const {signal} = this.#stopped;
    const lines = {stdout: new LineSplitter(), stderr: new LineSplitter()};
    const show = (line: string): void => {
      this.#renderer.log(pod, name, line);
    };
    try {
      const {logPath} = await logPathOf(this.#runtime, id, signal);
      const follow = {clock: this.#clock, isRunning: async () => await isRunning(this.#runtime, id, signal)};
      await readLog(
        logPath,
        {streams: ALL_STREAMS, follow, signal},
        {
          write: (stream, bytes) => {
            for (const line of lines[stream].push(bytes)) show(line);
          },
          ready: () => Promise.resolve(),
        },
      );
    } catch (error) {
      if (!signal.aborted)
        this.#renderer.note(pod, `the log of container ${name} can't be shown: ${messageOf(error)}`);
    }
    for (const splitter of Object.values(lines)) for (const line of splitter.rest()) show(line);
  }
}

/** Cuts bytes into lines, also where a character is cut in two. */
class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #begun = '';

  push(bytes: Uint8Array): readonly string[] {
    const parts = (this.#begun + this.#decoder.write(Buffer.from(bytes))).split('\n');
    this.#begun = parts.pop() ?? '';
    return parts;
  }

  rest(): readonly string[] {
    const rest = this.#begun + this.#decoder.end();
    return rest === '' ? [] : [rest];
  }
}
