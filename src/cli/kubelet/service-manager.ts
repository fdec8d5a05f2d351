import {spawn} from 'node:child_process';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {Logger} from '../../base/logger.js';

/** The variables by which systemd tells a service how it is watched over (sd_notify(3), sd_watchdog_enabled(3)). */
type Environment = Readonly<Record<string, string | undefined>>;

/** systemd's own program: Node.js can't open the datagram sockets that it listens at. */
const PROGRAM = 'systemd-notify';

/** What systemd has started a service of Type=notify with; for others it does nothing. */
export class ServiceManager {
  readonly #env: Environment;
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** Messages arrive in the order in which they were sent. */
  #sent: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(env: Environment, logger: Logger, clock: Clock) {
    this.#env = env;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Resolves when it was told, or can't be, which the log says once. */
  async tell(...assignments: readonly string[]): Promise<void> {
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
      if (!this.#failed)
        this.#logger.error(error, 'Could not tell systemd how the service is', {program: PROGRAM});
      this.#failed = true;
    }
  }

  /** How often systemd wants to hear of the service, twice; undefined when it doesn't (WATCHDOG_USEC). */
  get watchdogMs(): number | undefined {
    const {WATCHDOG_USEC: micros = '', WATCHDOG_PID: pid} = this.#env;
    if (!/^[1-9]\d*$/.test(micros) || (pid !== undefined && pid !== String(process.pid))) return undefined;
    return Number(micros) / 2000;
  }

  /** Keeps the watchdog quiet as long as the service is alive, until the signal aborts. */
  async feedWatchdog(isAlive: () => boolean, signal: AbortSignal): Promise<void> {
    const everyMs = this.watchdogMs;
    if (everyMs === undefined) return;
    try {
      for (;;) {
        if (isAlive()) await this.tell('WATCHDOG=1');
        else this.#logger.error(undefined, 'Not telling the watchdog: the sync loop stands still');
        await this.#clock.sleep(everyMs, signal);
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
