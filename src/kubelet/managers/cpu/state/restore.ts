import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import type {StateFile} from '../../../resources/checkpoint/state-file.js';
import {EMPTY_STATE, type CpuState} from './cpu-state.js';

/** Loads the stored state and checks it. Rejects with SystemError, as a kubelet reports that the manager cannot start. */
export async function restore(
  file: StateFile<CpuState>,
  check: (stored: CpuState) => CpuState = (stored) => stored,
): Promise<CpuState> {
  try {
    return check((await file.load()) ?? EMPTY_STATE);
  } catch (error) {
    rethrowUnexpected(error);
    throw new SystemError(`start cpu manager error: ${messageOf(error)}`, {
      cause: error,
      hint: 'drain the node, and remove cpu_manager_state from the root directory',
    });
  }
}
