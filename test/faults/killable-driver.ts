import {fork, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdir} from 'node:fs/promises';
import type {DaemonDriver} from '../golden/drivers/daemon-driver.js';
import {manifestsDirOf} from '../golden/drivers/daemon-driver.js';
import type {PodDriver, PodDriverOptions} from '../golden/drivers/pod-driver.js';
import type {KubeletProcessOptions} from './kubelet-process.js';
import type {LockstepClock} from './lockstep-clock.js';

/** Options of a KillableDriver. */
export interface KillableDriverOptions {
  readonly caseName: string;
  readonly clock: LockstepClock;
  readonly startProcess: () => ChildProcess;
  /** The driver that takes over. */
  readonly successor: DaemonDriver;
}

/** Starts the processes of kubelets, each before it is needed. */
export class KubeletProcesses implements Disposable {
  readonly #arguments: readonly [file: string, args: readonly string[]];
  readonly #spares: ChildProcess[];

  /** `file` is the compiled kubelet-process.ts, or another program; `args` are its arguments. */
  constructor(file: string, args: readonly string[] = []) {
    this.#arguments = [file, args];
    this.#spares = [this.#fork()];
  }

  /** Returns a process that waits for options, which may be one that was given back. */
  take(): ChildProcess {
    const taken = this.#spares.pop() ?? this.#fork();
    if (this.#spares.length === 0) this.#spares.push(this.#fork());
    return taken;
  }

  /** Takes a process back that waits for options again: it starts at once, and has compiled what it runs. */
  give(child: ChildProcess): void {
    child.unref();
    child.channel?.unref();
    this.#spares.push(child);
  }

  /** The process does not count as work that the clock waits for. */
  #fork(): ChildProcess {
    const child = fork(...this.#arguments);
    child.unref();
    child.channel?.unref();
    return child;
  }

  [Symbol.dispose](): void {
    for (const child of this.#spares) child.kill('SIGKILL');
  }
}

/** Runs a kubelet in a process that can be killed, and after that one in this process. */
export class KillableDriver implements PodDriver {
  readonly shellEnvironment: Readonly<Record<string, string>>;
  readonly #options: PodDriverOptions;
  readonly #killable: KillableDriverOptions;
  #child: ChildProcess | undefined;
  /** Whether the successor runs instead of the process. */
  #hasSuccessor = false;

  constructor(options: PodDriverOptions, killable: KillableDriverOptions) {
    this.#options = options;
    this.#killable = killable;
    this.shellEnvironment = killable.successor.shellEnvironment;
  }

  /** Whether the process is over: only then this process sees the pods. */
  get hasSuccessor(): boolean {
    return this.#hasSuccessor;
  }

  get events(): PodDriver['events'] {
    return this.#killable.successor.events;
  }
  get pods(): PodDriver['pods'] {
    return this.#killable.successor.pods;
  }
  get podsBeforeDeletion(): PodDriver['podsBeforeDeletion'] {
    return this.#killable.successor.podsBeforeDeletion;
  }
  get rejections(): PodDriver['rejections'] {
    return this.#killable.successor.rejections;
  }

  async start(): Promise<void> {
    const {caseName, clock, startProcess, successor} = this.#killable;
    if (this.#hasSuccessor) {
      await successor.start();
      return;
    }
    const {endpoint, node} = this.#options;
    const manifestsDir = manifestsDirOf(node.rootDir);
    await mkdir(manifestsDir, {recursive: true});
    const child = startProcess();
    this.#child = child;
    const options: KubeletProcessOptions = {
      caseName,
      endpoint,
      rootDir: node.rootDir,
      podLogsDir: node.podLogsDir,
      manifestsDir,
      nowMs: this.#options.clock.now(),
    };
    child.send(options);
    clock.lead(child);
  }

  async stop(): Promise<void> {
    await this.#endProcess((child) => child.send('stop'));
    if (this.#hasSuccessor) await this.#killable.successor.stop();
  }

  /** Kills the process with SIGKILL and starts the successor. Rejects if the process has ended by itself. */
  async kill(): Promise<void> {
    if (this.#hasSuccessor) return;
    this.#hasSuccessor = true;
    const wasRunning = this.#child !== undefined;
    await this.#endProcess((child) => child.kill('SIGKILL'));
    if (wasRunning) await this.#killable.successor.start();
  }

  async curl(command: string): Promise<void> {
    if (this.#hasSuccessor) await this.#killable.successor.curl(command);
  }

  async putManifest(file: string, text: string): Promise<void> {
    await this.#killable.successor.putManifest(file, text);
  }

  async deleteManifests(): Promise<void> {
    await this.#killable.successor.deleteManifests();
  }

  async #endProcess(end: (child: ChildProcess) => void): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the kubelet ended with ${child.exitCode ?? child.signalCode}`);
    const exited = once(child, 'exit');
    end(child);
    await exited;
  }
}
