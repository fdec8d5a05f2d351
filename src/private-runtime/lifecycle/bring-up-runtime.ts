import {systemClock, type Clock} from '../../base/clock.js';
import {messageOf, SystemError} from '../../base/errors.js';
import {findBinaries, type BinaryChoice} from '../containerd/binaries.js';
import {waitUntilReady} from '../containerd/start-containerd.js';
import {withLock, requireRoot} from '../host/with-lock.js';
import {computeRuntimeLayout} from '../private-runtime-layout.js';
import {isRunning} from '../process/running-process.js';
import {readRuntimeRecord, type RuntimeRecord} from '../private-runtime-record.js';
import {ensureRootDir} from '../root-dir.js';
import {stopUnrecordedContainerd, startRuntime, type StartContext} from './start-runtime.js';
import {tearDown} from './tear-down.js';

/** Options to start the private runtime. */
export interface BringUpOptions {
  /** kcri's root directory; the runtime is in its subdirectory `runtime`. */
  readonly rootDir: string;
  /** Programs to use; by default those of the last start, otherwise those in PATH. */
  readonly choice?: BinaryChoice | undefined;
  /** Called with a short description of each step. */
  readonly onProgress?: ((step: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Starts the private containerd and resolves when pods can run on it, at once if it is running. A killed containerd is
 * started again and takes over its running containers. A concurrent call waits for the first and returns the same
 * result. A first start that fails leaves nothing behind.
 *
 * Rejects with SystemError if a program is missing, containerd does not become ready, or the running one uses another
 * containerd or runc than requested.
 */
export async function bringUpRuntime(options: BringUpOptions, signal: AbortSignal): Promise<RuntimeRecord> {
  requireRoot('starting the container runtime');
  const {clock = systemClock, onProgress = () => undefined} = options;
  const {rootDir, made} = await ensureRootDir(options.rootDir);
  const layout = computeRuntimeLayout(rootDir);
  return withLock({lockFile: layout.lockFile, onProgress, signal}, async () => {
    const before = readRuntimeRecord(rootDir);
    const context = {rootDir, layout, onProgress, clock, signal, madeRootDir: before?.madeRootDir ?? made};
    const choice = definedOnly(options.choice);
    if (before?.process !== undefined && isRunning(before.process)) {
      requireSame(before, choice);
      await waitUntilReady({layout, containerd: before.process, clock}, signal);
      return before;
    }
    try {
      return await startRuntime({...before?.choice, ...choice}, before, context);
    } catch (error) {
      // The first failure matters; what is left is removed by "kcri runtime down".
      await undo(before, context).catch((cause: unknown) => {
        onProgress(`cannot undo the failed start: ${messageOf(cause)}; run "kcri runtime down"`);
      });
      throw error;
    }
  });
}

/** Throws SystemError if the running programs are not the requested ones. */
function requireSame(running: RuntimeRecord, choice: BinaryChoice): void {
  const wanted = findBinaries({...running.choice, ...choice}, process.env['PATH'] ?? '');
  for (const name of ['containerd', 'runc'] as const) {
    if (choice[name] === undefined || wanted[name] === running[name]) continue;
    throw new SystemError(`the runtime already uses "${running[name]}", not "${wanted[name]}"`, {
      hint: 'run "kcri runtime down" first, or use another --root-dir',
    });
  }
}

/** Cleans up a failed start: a first start leaves nothing, a failed repair keeps containers and images. */
async function undo(before: RuntimeRecord | undefined, context: StartContext): Promise<void> {
  if (before === undefined) await tearDown({...context, removeRootDir: context.madeRootDir});
  else await stopUnrecordedContainerd(context);
}

function definedOnly(choice: BinaryChoice = {}): BinaryChoice {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
}
