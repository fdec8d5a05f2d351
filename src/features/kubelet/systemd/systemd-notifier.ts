import {spawn} from 'node:child_process';
import {pause} from '../../../base/async/pause.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import type {FileLogger, Logger} from '../../../base/logger.js';

/** Environment with the variables NOTIFY_SOCKET and WATCHDOG_* (sd_notify(3), sd_watchdog_enabled(3)). */
type Environment = Readonly<Record<string, string | undefined>>;

/** Program that sends notifications: Node.js does not support Unix datagram sockets. */
const PROGRAM = 'systemd-notify';
/** Shortest interval of watchdog notifications, in ms: each one starts a program. */
const SHORTEST_MS = 100;

/** Notifies systemd of the state of a service with Type=notify. Does nothing without NOTIFY_SOCKET. */
export class SystemdNotifier {
  readonly #env: Environment;
  readonly #logger: FileLogger;
  readonly #clock: Clock;
  /** Queue of notifications, which preserves their order; settles when all are sent. */
  #sent: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(env: Environment, logger: Logger, clock: Clock) {
    this.#env = env;
    this.#logger = logger.forFile('systemd-notifier.ts');
    this.#clock = clock;
  }

  /** Sends a notification. Resolves also if that fails; the first failure is logged. */
  async notify(...assignments: readonly string[]): Promise<void> {
    if ((this.#env['NOTIFY_SOCKET'] ?? '') === '') return;
    this.#sent = this.#sent.then(async () => {
      await this.#send(assignments);
    });
    await this.#sent;
  }

  async #send(assignments: readonly string[]): Promise<void> {
    try {
      await run(PROGRAM, assignments, this.#env);
    } catch (error) {
      if (!this.#failed) this.#logger.error(error, 'Failed to notify systemd', {program: PROGRAM});
      this.#failed = true;
    }
  }

  /** Interval of watchdog notifications in ms, half of WATCHDOG_USEC; undefined without a watchdog. */
  get watchdogMs(): number | undefined {
    const {WATCHDOG_USEC: micros = '', WATCHDOG_PID: pid} = this.#env;
    if (!/^[1-9]\d*$/.test(micros) || (pid !== undefined && pid !== String(process.pid))) return undefined;
    return Math.max(Number(micros) / 2000, SHORTEST_MS);
  }

  /** Sends watchdog notifications while the service is alive, until the signal aborts. */
  async runWatchdog(isAlive: () => boolean, signal: AbortSignal): Promise<void> {
    const intervalMs = this.watchdogMs;
    if (intervalMs === undefined) return;
    try {
      for (;;) {
        if (isAlive()) await this.notify('WATCHDOG=1');
        else this.#logger.error(undefined, 'Not notifying the systemd watchdog: the sync loop is stuck');
        await pause(this.#clock, intervalMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

async function run(program: string, args: readonly string[], env: Environment): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, {env: {...env}, stdio: ['ignore', 'ignore', 'ignore'], timeout: 5000});
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`exit code ${String(code)}`));
    });
  }).catch((error: unknown) => {
    throw new Error(`${program} ${args.join(' ')}: ${messageOf(error)}`, {cause: error});
  });
}
