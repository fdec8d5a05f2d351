import {SystemError} from '../base/errors.js';
import {isUnimplemented} from '../cri/index.js';

/** Use of containerd by a command, for the error on another runtime. */
export interface ContainerdUse {
  /** The command, such as `image save`. */
  readonly command: string;
  /** Name and version of the runtime, such as `cri-o 1.30.0`, if they are known. */
  readonly runtime?: string | undefined;
  /** What to do instead on another runtime; a hint. */
  readonly instead: string;
}

/**
 * Runs work that uses containerd's own services. Rejects with SystemError if the runtime does not have them, naming the
 * command, the runtime, and what works instead.
 */
export async function withContainerd<T>(
  {command, runtime = 'the runtime', instead}: ContainerdUse,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUnimplemented(error)) throw error;
    throw new SystemError(`"kcri ${command}" needs containerd's API, which ${runtime} does not have`, {
      cause: error,
      hint: instead,
    });
  }
}
