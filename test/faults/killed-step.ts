import {ChildProcess} from 'node:child_process';
import directCalls from 'node:fs';
import fs from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import type {Connection} from '../../src/cri/index.js';

/** What a process with a {@link KilledStep} sends to its parent. */
export interface StepMessage {
  /** All steps so far. */
  readonly steps?: readonly string[];
  /** Step before which the process is killed. */
  readonly killedBefore?: string;
}

/** Counts the steps of this process in which it changes a file, runs a program or calls the runtime, and kills it in one. */
export class KilledStep {
  #steps: string[] = [];
  #step = Infinity;
  /** Names of the steps in progress. */
  readonly #running = new Map<symbol, string>();

  /** The process is killed (SIGKILL) before step number `step`, counted from 0; by default never. */
  constructor(step?: number) {
    this.begin(step);
  }

  /** The steps so far. */
  get steps(): readonly string[] {
    return this.#steps;
  }

  /** The steps that have begun and not ended. */
  get running(): readonly string[] {
    return [...this.#running.values()];
  }

  /** Counts from 0 again, for another kubelet in this process, which is killed before step number `step`. */
  begin(step = Infinity): void {
    this.#steps = [];
    this.#step = step;
  }

  #take(name: string): void {
    if (this.#steps.length === this.#step) {
      // A short message is written at once.
      const message: StepMessage = {killedBefore: name};
      process.send?.(message);
      process.kill(process.pid, 'SIGKILL');
    }
    this.#steps.push(name);
  }

  /** Does a step, which is in progress until its promise settles. */
  #run(name: string, act: () => unknown): unknown {
    this.#take(name);
    const result = act();
    if (!(result instanceof Promise)) return result;
    const key = Symbol(name);
    this.#running.set(key, name);
    const end = (): void => void this.#running.delete(key);
    result.then(end, end);
    return result;
  }

  /** Sends the steps so far to the parent of this process; calls `onSent` when they are sent. */
  send(onSent: () => void = () => undefined): void {
    const message: StepMessage = {steps: this.#steps};
    process.send?.(message, onSent);
  }

  /** Counts changes of files and starts of programs from now on, in the whole process. */
  async watchProcess(): Promise<void> {
    await using file = await fs.open('/dev/null');
    this.#watch(Object.getPrototypeOf(file) as object, HANDLE_METHODS, () => 'file');
    this.#watch(fs, FILE_METHODS, ([path, other]) =>
      [path, other].filter((argument) => typeof argument === 'string').join(' '),
    );
    this.#watch(fs, ['open'], describeOpen);
    this.#watch(directCalls, DIRECT_METHODS, ([path]) => String(path));
    this.#watchCallbacks(DESCRIPTOR_METHODS, () => 'file');
    this.#watchCallbacks(['open'], describeOpen);
    this.#watch(ChildProcess.prototype, ['spawn'], ([options]) => (options as {readonly file: string}).file);
    syncBuiltinESMExports();
  }

  /** Returns services whose calls are counted. */
  watchCalls({runtime, images, ...connection}: Connection): Connection {
    const watched = <T extends object>(service: T): T => {
      const copy = {...service};
      this.#watch(copy, Object.keys(copy), () => '');
      return copy;
    };
    return {...connection, runtime: watched(runtime), images: watched(images)};
  }

  /** Counts calls of functions of node:fs that call back; a step is in progress until then. */
  #watchCallbacks(names: readonly string[], describe: Description): void {
    const methods = directCalls as unknown as Record<string, (...argument: unknown[]) => unknown>;
    for (const name of names) {
      const method = methods[name]!;
      methods[name] = (...argument: unknown[]): void => {
        const done = argument.pop() as (...results: unknown[]) => void;
        const what = describe(argument);
        if (what === undefined) method(...argument, done);
        else
          void this.#run(`${name} ${what}`, async () => {
            await new Promise<void>((resolve) => {
              method(...argument, (...results: unknown[]) => {
                resolve();
                done(...results);
              });
            });
          });
      };
    }
  }

  /** Counts calls of the methods. */
  #watch(owner: object, names: readonly string[], describe: Description): void {
    const methods = owner as Record<string, (...argument: unknown[]) => unknown>;
    const run = (name: string | undefined, act: () => unknown): unknown =>
      name === undefined ? act() : this.#run(name, act);
    for (const name of names) {
      const method = methods[name]!;
      methods[name] = function watched(this: unknown, ...argument: unknown[]): unknown {
        const what = describe(argument);
        return run(what === undefined ? undefined : `${name} ${what}`.trimEnd(), () =>
          method.apply(this, argument),
        );
      };
    }
  }
}

/** Returns what a call is about; undefined for calls that are no steps. */
type Description = (argument: readonly unknown[]) => string | undefined;

const describeOpen: Description = ([path, flags]) => (/[wa]/.test(String(flags)) ? String(path) : undefined);

const HANDLE_METHODS = ['write', 'writeFile', 'sync', 'chmod'];
/** The same of open files without a handle (src/base/fs/descriptors.ts). */
const DESCRIPTOR_METHODS = ['write', 'fsync', 'fchmod'];
/** Calls that the kubelet makes on its main thread, because they change nothing on a disk. */
const DIRECT_METHODS = ['mkdirSync', 'writeFileSync'];
const FILE_METHODS = [
  ...['writeFile', 'appendFile', 'rename', 'link', 'symlink', 'unlink'],
  ...['mkdir', 'mkdtemp', 'rmdir', 'rm', 'chmod', 'chown', 'lchown', 'utimes'],
];
