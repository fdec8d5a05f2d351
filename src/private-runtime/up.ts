import {systemClock, type Clock} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {findBinaries, type BinaryChoice} from './binaries.js';
import {waitUntilReady} from './containerd.js';
import {exclusively, requireRoot} from './exclusively.js';
import {layoutOf} from './layout.js';
import {isRunning} from './process-identity.js';
import {readRecord, type RuntimeRecord} from './record.js';
import {ensureRootDir} from './root-dir.js';
import {endUnrecorded, start, type StartContext} from './start.js';
import {tearDown} from './tear-down.js';

/** How to bring the private runtime up. */
export interface UpOptions {
  /** kcri's root directory; the runtime lives in its folder `runtime`. */
  readonly rootDir: string;
  /** Which programs to take; default those of the last time, else the machine's. */
  readonly choice?: BinaryChoice | undefined;
  /** Told what is being done, in a few words each. */
  readonly progress?: ((step: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * Brings the private containerd up and resolves when pods can run on it; at once when it is up already. Where
 * containerd was killed it is started again and takes its running containers back. A second `up` at the same
 * time waits for the first and gives the same answer. When a first start fails, nothing is left behind.
 *
 * Throws SystemError when something needed is missing, containerd doesn't come up, or one runs already and it is
 * another containerd or runc than is asked for.
 */
export async function up(options: UpOptions, signal: AbortSignal): Promise<RuntimeRecord> {
  requireRoot('starting a container runtime');
  const {clock = systemClock, progress = () => undefined} = options;
  const {rootDir, made} = await ensureRootDir(options.rootDir);
  const layout = layoutOf(rootDir);
  return exclusively({lockFile: layout.lockFile, progress, signal}, async () => {
    const before = readRecord(rootDir);
    const context = {rootDir, layout, progress, clock, signal, madeRootDir: before?.madeRootDir ?? made};
    const choice = definedOnly(options.choice);
    if (before?.process !== undefined && isRunning(before.process)) {
      requireSame(before, choice);
      await waitUntilReady({layout, containerd: before.process, clock}, signal);
      return before;
    }
    try {
      return await start({...before?.choice, ...choice}, before, context);
    } catch (error) {
      await undo(before, context);
      throw error;
    }
  });
}

/** Throws SystemError when what runs is not what is asked for now. */
function requireSame(running: RuntimeRecord, choice: BinaryChoice): void {
  const wanted = findBinaries({...running.choice, ...choice}, process.env['PATH'] ?? '');
  for (const name of ['containerd', 'runc'] as const) {
    if (choice[name] === undefined || wanted[name] === running[name]) continue;
    throw new SystemError(`the runtime runs with "${running[name]}", not with "${wanted[name]}"`, {
      hint: 'run "kcri runtime down" first, or use another --root-dir',
    });
  }
}

/** A first start that failed leaves nothing; a failed repair leaves containers and images for the next try. */
async function undo(before: RuntimeRecord | undefined, context: StartContext): Promise<void> {
  if (before === undefined) await tearDown({...context, removeRootDir: context.madeRootDir});
  else await endUnrecorded(context);
}

function definedOnly(choice: BinaryChoice = {}): BinaryChoice {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
}
