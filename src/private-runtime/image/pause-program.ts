import {PAUSE_PROGRAMS} from './pause-programs.js';

/** Architecture that has a pause program, named as in `process.arch`. */
export type PauseArchitecture = keyof typeof PAUSE_PROGRAMS;

/** Reports whether a pause program exists for the architecture. */
export function isPauseArchitecture(architecture: string): architecture is PauseArchitecture {
  return Object.hasOwn(PAUSE_PROGRAMS, architecture);
}

/**
 * Returns a static Linux executable that works like the `pause` program of sandbox images: it keeps the pod's
 * namespaces, reaps orphaned processes if the pod shares its PID namespace, and exits with 0 at SIGINT or SIGTERM.
 */
export function pauseProgram(architecture: PauseArchitecture): Uint8Array {
  return Buffer.from(PAUSE_PROGRAMS[architecture], 'base64');
}
