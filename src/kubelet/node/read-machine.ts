import {readdirSync, readFileSync} from 'node:fs';
import {rethrowUnexpected} from '../../base/errors.js';
import type {Machine} from '../contract/resources/machine.js';
import type {MachineFiles} from '../resources/machine/machine-files.js';
import {parseMachine} from '../resources/machine/parse-machine.js';

/**
 * Reads the CPUs and memory of the machine from /proc and /sys; a large one has thousands of small files. Throws SystemError if
 * they cannot be understood.
 */
function readMachine(): Machine {
  return parseMachine(SYSTEM_FILES);
}

/** Returns a function that reads the machine when it is first asked: most commands do not need it. */
export function machineReader(): () => Machine {
  let machine: Machine | undefined;
  return () => (machine ??= readMachine());
}

const SYSTEM_FILES: MachineFiles = {
  read: (path) => unlessUnreadable(() => readFileSync(path, 'utf8')),
  list: (directory) => unlessUnreadable(() => readdirSync(directory).toSorted()) ?? [],
};

function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    rethrowUnexpected(error);
    return undefined;
  }
}
