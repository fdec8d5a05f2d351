import {run} from './run.mjs';

/** Runs the demo and returns its exit code. */
export function runDemo() {
  return run(process.execPath, ['scripts/demo.mjs']);
}
