import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {runInBackground} from '../../../base/async/background-work.js';
import {WakeableSleep} from '../../../base/async/wakeable-sleep.js';
import {LONGEST_TIMER_MS} from '../../../base/clock.js';
import {isExpectedError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';
import type {FileLogger} from '../../../base/logger.js';
import type {NodeManagerServices} from '../../contract/node-manager.js';
import {nextFailure, planRegistrations, type RegistrationFailure} from './plan-registrations.js';
import {registerPlugin, type HandledPlugin} from './register-plugin.js';
import {SocketDirectory} from './socket-directory.js';

/** Period in which unfinished work is looked at, in ms (loopSleepDuration). */
const PERIOD_MS = 1000;

type Services = Pick<NodeManagerServices, 'node' | 'clock' | 'logger' | 'plugins'>;

/** Starts to register plugins until the signal aborts. An error is logged: other pods do not need them (pluginmanager Run). */
export async function startPluginWatcher(services: Services, signal: AbortSignal): Promise<void> {
  const directory = join(services.node.rootDir, 'plugins_registry');
  const logger = services.logger.forFile('plugin-watcher.ts');
  try {
    await withFileErrors('creating', directory, () => mkdir(directory, {recursive: true, mode: 0o750}));
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    logger.error(error, 'The desired_state_of_world populator (plugin watcher) starts failed!');
    return;
  }
  runInBackground('plugin watcher', new PluginWatcher(directory, services, logger).run(signal));
}

/** Registers plugins of all types by their sockets in a directory, and deregisters them when these are gone. */
class PluginWatcher {
  readonly #services: Services;
  readonly #logger: FileLogger;
  readonly #sleep: WakeableSleep;
  readonly #sockets: SocketDirectory;
  /** Identity of the socket of each registered plugin, and what was registered. */
  readonly #registered = new Map<string, HandledPlugin & {readonly identity: string}>();
  readonly #busy = new Set<string>();
  readonly #failures = new Map<string, RegistrationFailure>();

  constructor(directory: string, services: Services, logger: FileLogger) {
    this.#services = services;
    this.#logger = logger;
    this.#sleep = new WakeableSleep(services.clock);
    this.#sockets = new SocketDirectory(directory, () => {
      this.#sleep.wake();
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const isUnfinished = await this.#reconcile(signal);
      // Nothing happens before the directory changes, unless there is something to repeat.
      await this.#sleep.sleep(isUnfinished ? PERIOD_MS : LONGEST_TIMER_MS, signal).catch(() => undefined); // aborted
    }
    this.#sockets.close();
  }

  /** Starts what is to be done, and returns whether something is left to do. */
  async #reconcile(signal: AbortSignal): Promise<boolean> {
    let existing: ReadonlyMap<string, string>;
    try {
      existing = await this.#sockets.list();
    } catch (error) {
      if (!isExpectedError(error)) throw error;
      this.#logger.error(error, 'Failed to traverse plugin socket path');
      return true;
    }
    for (const path of [...this.#failures.keys()]) if (!existing.has(path)) this.#failures.delete(path);
    const identities = new Map([...this.#registered].map(([path, {identity}]) => [path, identity]));
    const state = {existing, registered: identities, busy: this.#busy, failures: this.#failures};
    const plan = planRegistrations(state, this.#services.clock.monotonic());
    for (const path of plan.deregister) this.#deregister(path);
    for (const path of plan.register)
      runInBackground('plugin watcher', this.#register(path, existing.get(path) ?? '', signal));
    return plan.isUnfinished || plan.register.length > 0;
  }

  async #register(path: string, identity: string, signal: AbortSignal): Promise<void> {
    const {plugins, clock} = this.#services;
    this.#busy.add(path);
    try {
      const handled = await registerPlugin(path, {handlers: plugins, clock, signal});
      this.#registered.set(path, {...handled, identity});
      this.#failures.delete(path);
      this.#logger.info('Registered plugin', {path, plugin: handled.plugin.name}, 2);
    } catch (error) {
      if (signal.aborted) return;
      if (!isExpectedError(error)) throw error;
      this.#failures.set(path, nextFailure(this.#failures.get(path), clock.monotonic()));
      this.#logger.error(error, 'OperationExecutor.RegisterPlugin failed', {plugin: path});
    } finally {
      this.#busy.delete(path);
      this.#sleep.wake();
    }
  }

  #deregister(path: string): void {
    const known = this.#registered.get(path);
    this.#registered.delete(path);
    known?.handler.deregister(known.plugin);
    this.#logger.info('DeRegisterPlugin called', {pluginName: known?.plugin.name ?? ''}, 4);
  }
}
