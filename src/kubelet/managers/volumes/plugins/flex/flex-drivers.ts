import {stat} from 'node:fs/promises';
import {KeyedLock} from '../../../../../base/async/keyed-lock.js';
import {SystemError} from '../../../../../base/errors.js';
import {fileIdentity} from '../../../../../base/fs/file-cache.js';
import {ifPresent, withFileErrors} from '../../../../../base/fs/files.js';
import {runInGroup} from '../../../../../base/host/run-in-group.js';
import {shorten} from '../../../../../base/shorten.js';
import type {NodeFacts} from '../../../../contract/node-facts.js';
import {parseFlexAnswer, type FlexAnswer, type FlexCapabilities, type FlexSuccess} from './flex-answer.js';
import {flexExecutable} from './flex-name.js';

/** Time limits of calls, in ms; a kubelet has only that of waitforattach, which is the longer one. */
const INIT_TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 600_000;
/** Longest text of a driver in a message, in characters. */
const MOST_TEXT = 1000;
const MASK = '********';

/** Options of a call. */
export interface FlexCallOptions {
  /** Ends the call; without it only the time does. */
  readonly signal?: AbortSignal | undefined;
  /** Values among the arguments, which no message may contain. */
  readonly secrets?: readonly string[];
}

/** A driver that has answered `init`. */
export interface FlexDriver {
  readonly capabilities: FlexCapabilities;
  /**
   * Calls the driver; undefined if it does not support the command. Rejects with SystemError with the message of the driver, and
   * with the signal's reason.
   */
  call(command: string, args: readonly string[], options?: FlexCallOptions): Promise<FlexSuccess | undefined>;
}

/** Capabilities of an executable, as it has told them. */
interface KnownDriver {
  /** Identity of the file, which changes with its content. */
  readonly identity: string;
  readonly capabilities: FlexCapabilities;
  readonly unsupported: Set<string>;
}

type PluginDir = Pick<NodeFacts, 'volumePluginDir'>;

/**
 * Drivers of FlexVolumes: the executables `<vendor>~<driver>/<driver>` in the plugin directory (flexVolumeProber). They are looked at
 * when a volume needs them, so one that appears, changes or disappears needs no watch. As in a kubelet, the
 * owners of the files do not matter: whoever can write to the directory runs programs as root.
 */
export class FlexDrivers {
  readonly #known = new Map<string, KnownDriver>();
  readonly #lock = new KeyedLock();
  /** Devices of attached volumes as their drivers have named them, by the paths of their mounts for all pods. */
  readonly devices = new Map<string, string>();

  /**
   * Returns a driver, after a call of `init` if it is new or has changed. Rejects with SystemError that says what is missing, and with
   * the signal's reason.
   */
  async find(node: PluginDir, name: string, signal?: AbortSignal): Promise<FlexDriver> {
    const path = flexExecutable(node, name);
    if (path === undefined)
      throw new SystemError(`no FlexVolume driver can have the name ${JSON.stringify(name)}`, {
        hint: 'name the driver as its directory, with "/" in place of "~", such as "vendor/driver"',
      });
    return await this.#lock.run([path], async () => await this.#start(path, name, signal), signal);
  }

  /** Returns what a driver can do that was found before; undefined for others. */
  capabilities(node: PluginDir, name: string): FlexCapabilities | undefined {
    return this.#known.get(flexExecutable(node, name) ?? '')?.capabilities;
  }

  async #start(path: string, name: string, signal: AbortSignal | undefined): Promise<FlexDriver> {
    const hint = `install the driver as ${path}, or use a CSI driver`;
    const identity = await identityOf(path);
    if (identity === undefined) {
      this.#known.delete(path);
      throw new SystemError(
        `the FlexVolume driver ${JSON.stringify(name)} is not installed: no file ${path}`,
        {
          hint,
        },
      );
    }
    const known = this.#known.get(path);
    if (known?.identity === identity) return toDriver(path, known);
    const answer = await callDriver(path, 'init', [], {signal, timeoutMs: INIT_TIMEOUT_MS});
    if (answer.kind !== 'success') {
      const problem = 'message' in answer ? answer.message : 'it does not support init';
      throw new SystemError(`the FlexVolume driver ${JSON.stringify(name)} cannot be used: ${problem}`, {
        hint,
      });
    }
    const driver = {identity, capabilities: answer.capabilities, unsupported: new Set<string>()};
    this.#known.set(path, driver);
    return toDriver(path, driver);
  }
}

/** Drivers of this machine. */
export const systemFlexDrivers = new FlexDrivers();

function toDriver(path: string, {capabilities, unsupported}: KnownDriver): FlexDriver {
  return {
    capabilities,
    call: async (command, args, options = {}) => {
      if (unsupported.has(command)) return undefined;
      const answer = await callDriver(path, command, args, {...options, timeoutMs: CALL_TIMEOUT_MS});
      if (answer.kind === 'success') return answer;
      if (answer.kind !== 'unsupported')
        throw new SystemError(answer.message, {
          hint: `call the driver by hand, and look into its log: ${path}`,
        });
      unsupported.add(command);
      return undefined;
    },
  };
}

/** Calls an executable (DriverCall.Run). Its output is not trusted: a message has only its beginning, without secrets. */
async function callDriver(
  path: string,
  command: string,
  args: readonly string[],
  {signal, secrets = [], timeoutMs}: FlexCallOptions & {readonly timeoutMs: number},
): Promise<FlexAnswer> {
  signal?.throwIfAborted();
  const options = {env: process.env, timeoutMs, signal, readsOutput: true};
  // Its error of Node.js has the arguments.
  const {reason, output, cause, isExceeded} = await runInGroup(path, [command, ...args], options);
  signal?.throwIfAborted();
  if (isExceeded === true) return {kind: 'failure', message: `${command} was ended: ${reason}`};
  if (cause !== undefined) return {kind: 'failure', message: `cannot run ${path}: ${reason}`};
  const answer = parseFlexAnswer(command, output);
  if (answer.kind === 'failure') return {...answer, message: shown(answer.message, secrets)};
  if (answer.kind === 'success' && reason !== undefined)
    return {kind: 'failure', message: `${command} succeeded, but the driver did not: ${reason}`};
  if (answer.kind !== 'invalid') return answer;
  const said = `the driver answered ${command} with ${JSON.stringify(shown(output, secrets))}`;
  return {
    kind: 'failure',
    message: `${answer.message}: ${said}${reason === undefined ? '' : `: ${reason}`}`,
  };
}

/** Returns a text of a driver for a message: its beginning, in one line, with secrets masked. */
function shown(text: string, secrets: readonly string[]): string {
  const masked = secrets
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
  return shorten(masked.replace(/\p{Cc}+/gu, ' ').trim(), MOST_TEXT);
}

/** Returns the identity of a file; undefined if it does not exist. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await withFileErrors('looking at the driver', path, () =>
    ifPresent(() => stat(path, {bigint: true})),
  );
  return found && fileIdentity(found);
}
